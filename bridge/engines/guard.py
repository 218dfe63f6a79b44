"""A program's process group that does not outlive us: not even a SIGKILL, which leaves us no time to end it.

A shell in that group waits for the end of a pipe whose other end only we hold. It needs no code between fork and exec
(which is not safe beside threads), reaches what the program itself started, and keeps the group's number from being
given to anybody else.
"""

import contextlib
import os
import signal
import subprocess

_WAIT_FOR_OUR_END = "read -r _; kill -KILL 0"


class Guard:
    """Ends the process group `group` when `kill` is called or this process is gone, whichever comes first."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._shell: subprocess.Popen[bytes] | None = None
        # No shell, or a program that has ended already: then the group is only killed by our own hand.
        with contextlib.suppress(OSError):
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _WAIT_FOR_OUR_END],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=group,
            )

    def kill(self) -> None:
        """Kill the whole group. Only once: later its number may be another's."""
        # Gone already, or turned into somebody else's program: there is nothing left that is ours to kill.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        if self._shell is not None:
            assert self._shell.stdin is not None, "it was given a pipe"
            self._shell.stdin.close()
            self._shell.wait()
