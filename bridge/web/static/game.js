// A game's page: steps through its plies, and goes along while it is played.
import { makeBoard, showPosition, turnOf } from "./board.js";
import { Chart } from "./chart.js";
import { isTicking, showClocks } from "./clocks.js";
import { listenToControls, renewControls } from "./control.js";
import { showEffects } from "./effects.js";
import { follow, renewal } from "./events.js";
import { keepFocus } from "./focus.js";
import { MoveList } from "./moves.js";
import { position, readSheet, takeEvent } from "./sheet.js";
import { clockText, moveNumber, san, say, seconds } from "./words.js";

const at = (id) => document.getElementById(id);
const table = document.querySelector(".table");
let sheet = readSheet();
let selected = sheet.plies.length;
let orientation = sheet.seat === "black" ? "black" : "white";

const board = makeBoard(at("board"), { coordinates: true, orientation });
const list = new MoveList(at("moves"), select);
const chart = new Chart(at("chart"), select);

function select(ply, aloud = true) {
  selected = Math.max(0, Math.min(sheet.plies.length, ply));
  const here = position(sheet, selected);
  showPosition(board, here.fen, here.uci, here.san);
  clocks(here);
  const name = selected ? `${moveNumber(selected, sheet.start.fen)} ${san(here.san)}` : say("start position");
  at("where").textContent = name;
  at("effects-move").textContent = name;
  showEffects(at("effects"), selected ? here : null);
  at("note").textContent = note(here);
  bill(here);
  list.mark(selected);
  chart.mark(selected);
  const spoken = say("{move}: White {white}, Black {black}", { move: name, white: clockText(here.white_ms), black: clockText(here.black_ms) });
  at("board").setAttribute("aria-label", spoken);
  if (aloud) at("spoken").textContent = spoken;
}

function clocks(here) {
  const newest = selected === sheet.plies.length;
  const shown = {
    clocks: newest ? sheet.clocks : here,
    turn: turnOf(here.fen),
    start_ms: sheet.start.white_ms,
  };
  shown.ticking = newest && isTicking({ ...sheet, ply: sheet.plies.length });
  showClocks(table, shown);
  const flags = { white: "White’s flag has fallen, to be confirmed", black: "Black’s flag has fallen, to be confirmed" };
  table.querySelector("[data-flag]").textContent = newest && sheet.flag ? say(flags[sheet.flag]) : "";
}

function note(here) {
  if (!selected) return say("both clocks start here");
  if (here.counted === false) return say("Played after the end: it does not count.");
  return here.guarded ? say("The position has occurred before: nothing is paid.") : "";
}

// What winning costs from here, once the game is over.
function bill(here) {
  const place = at("bill");
  if (!place) return;
  const priced = here.bill;
  place.classList.toggle("unpayable", Boolean(priced) && !priced.payable);
  if (!priced) {
    place.textContent = place.dataset.none;
    return;
  }
  const values = { ending: san(priced.ending), moves: priced.moves };
  for (const name of ["bill", "needed", "clock"]) values[name] = seconds(priced[`${name}_ms`]);
  const side = say(priced.side === "white" ? "White" : "Black");
  const words = say("{ending} costs about {bill} s in {moves} moves; the clock must hold {needed} s and holds {clock} s.", values);
  place.textContent = `${side}: ${words} → ${priced.payable ? say("can be paid") : say("cannot be paid")}`;
}

function showAll() {
  list.show(sheet.plies, sheet.start.fen);
  chart.show(sheet.start, sheet.plies);
  select(selected, false);
}

function take(event) {
  const along = selected === sheet.plies.length;
  const known = sheet.plies.length;
  if (!takeEvent(sheet, event)) return anew();
  for (const ply of sheet.plies.slice(known)) {
    list.add(ply, sheet.start.fen);
    chart.show(sheet.start, sheet.plies);
  }
  select(along ? sheet.plies.length : selected, along && sheet.plies.length > known);
}

// A verdict, an end, a takeback: the server tells the game whole. Events that came meanwhile are in it or follow it.
const anew = renewal((fresh) => {
  const along = selected === sheet.plies.length;
  const told = readSheet(fresh);
  if (told.seq < line.seq) return anew();
  sheet = told;
  line.seq = told.seq;
  if (along) selected = sheet.plies.length;
  keepFocus(() => {
    at("verdict").replaceWith(fresh.getElementById("verdict"));
    times();
    showAll();
  });
  renewControls(fresh);
});

function times() {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "medium" });
  for (const time of document.querySelectorAll("time")) time.textContent = format.format(new Date(time.dateTime));
}

function flip() {
  orientation = orientation === "white" ? "black" : "white";
  board.set({ orientation });
  table.classList.toggle("turned", orientation === "black");
}

const steps = {
  first: () => select(0),
  back: () => select(selected - 1),
  on: () => select(selected + 1),
  last: () => select(sheet.plies.length),
  flip,
};
const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "on", End: "last", f: "flip" };

document.querySelector(".steps").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) steps[button.dataset.step]();
});
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const step = steps[keys[event.key]];
  if (!step) return;
  event.preventDefault();
  step();
});

table.classList.toggle("turned", orientation === "black");
times();
showAll();
listenToControls();
const line = follow(sheet.seq, sheet.id, take);
