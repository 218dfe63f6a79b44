// A board that shows positions; nobody moves on it.
import { Chessground } from "./vendor/chessground/chessground.min.js";

const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

export function makeBoard(element, { coordinates = false, orientation = "white" } = {}) {
  // Its drawings would need an inline style; there are none here.
  return Chessground(element, {
    viewOnly: true,
    coordinates,
    orientation,
    drawable: { enabled: false, visible: false },
    animation: { enabled: !still, duration: 160 },
    fen: "8/8/8/8/8/8/8/8",
  });
}

export function turnOf(fen) {
  return fen.split(" ")[1] === "b" ? "black" : "white";
}

// `uci` and `san` are those of the move that led to `fen`; empty at the start.
export function showPosition(board, fen, uci, san) {
  const turnColor = turnOf(fen);
  board.set({
    fen,
    turnColor,
    lastMove: uci ? [uci.slice(0, 2), uci.slice(2, 4)] : [],
    check: /[+#]$/.test(san ?? "") ? turnColor : false,
  });
}
