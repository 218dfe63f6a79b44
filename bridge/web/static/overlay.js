// The bare board and clocks, for streaming software.
import { makeBoard, showPosition, turnOf } from "./board.js";
import { isTicking, showClocks } from "./clocks.js";
import { follow, renewal } from "./events.js";
import { position, readSheet, takeEvent } from "./sheet.js";
import { say } from "./words.js";

const table = document.querySelector("main");
const { board: size, text, side } = table.dataset;
let sheet = readSheet();

table.style.setProperty("--board", `${size}px`);
table.style.setProperty("--text", `${text}px`);
table.classList.toggle("turned", side === "black");
const board = makeBoard(document.getElementById("board"), { orientation: side });

function show() {
  const here = position(sheet, sheet.plies.length);
  showPosition(board, here.fen, here.uci, here.san);
  const ticking = isTicking({ ...sheet, ply: sheet.plies.length });
  showClocks(table, { clocks: sheet.clocks, turn: turnOf(here.fen), start_ms: sheet.start.white_ms, ticking });
  const flags = { white: "White’s flag has fallen, to be confirmed", black: "Black’s flag has fallen, to be confirmed" };
  table.querySelector("[data-flag]").textContent = sheet.flag ? say(flags[sheet.flag]) : "";
}

const anew = renewal((fresh) => {
  const told = readSheet(fresh);
  if (told.seq < line.seq) return anew();
  sheet = told;
  line.seq = told.seq;
  show();
});

function take(event) {
  if (takeEvent(sheet, event)) show();
  else anew();
}

show();
const line = follow(sheet.seq, sheet.id, take);
