"""Bytes into lines, with bounded memory, wherever the network cut them."""

LIMIT = 1024 * 1024


class LineSplitter:
    """Feed it bytes as they come; a line ends with LF or CRLF. Bytes are decoded by nobody before a line is whole.

    A line above `limit` is dropped up to its end, without being kept.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self._begun = bytearray()
        self._dropping = False
        self._dropped = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk, without their ends."""
        lines = []
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            if not self._dropping:
                lines.append(bytes(self._begun.removesuffix(b"\r")))
            self._begun.clear()
            self._dropping = False
        self._add(rest)
        return lines

    def _add(self, piece: bytes) -> None:
        if self._dropping:
            return
        if len(self._begun) + len(piece) > self.limit:
            self._begun.clear()
            self._dropping = True
            self._dropped += 1
        else:
            self._begun += piece

    def take_dropped(self) -> int:
        """How many lines have been dropped since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped
