// Clocks that tick between two readings, and the gap between them. What they show is an estimate until the next reading.
import { clockText, gapText } from "./words.js";

const began = performance.now();
const serverThen = Number(document.body.dataset.now);
const faces = new Set();
const LOW_MS = 10000;

// The server's wall clock now, as far as we know it.
function serverNow() {
  return serverThen + performance.now() - began;
}

// Whether the running turn takes time here: after the first move of each side, of a game whose lines come at once.
export function isTicking(game) {
  return !game.over && !game.judged && !game.delayed && game.ply >= 2;
}

// Shows `game` in `root` and keeps it moving: `clocks` {white_ms, …, at_ms}, `turn`, `start_ms` for the gap's scale.
export function showClocks(root, game) {
  let face = [...faces].find((each) => each.root === root);
  if (!face) faces.add((face = { root }));
  face.game = game;
  paint(face);
}

export function forgetClocks(root) {
  for (const face of faces) if (face.root === root) faces.delete(face);
}

export function clocksNow(game) {
  const clocks = { ...game.clocks };
  if (game.ticking) {
    const gone = Math.max(0, serverNow() - clocks.at_ms);
    for (const name of [`${game.turn}_ms`, `platform_${game.turn}_ms`]) {
      if (typeof clocks[name] === "number") clocks[name] = Math.max(Math.min(0, clocks[name]), clocks[name] - gone);
    }
  }
  return clocks;
}

function paint({ root, game }) {
  const clocks = clocksNow(game);
  for (const element of root.querySelectorAll("[data-clock]")) {
    const ms = clocks[element.dataset.clock];
    write(element, clockText(ms));
    element.classList.toggle("low", typeof ms === "number" && ms <= LOW_MS);
    element.classList.toggle("turn", Boolean(game.ticking) && element.dataset.clock.endsWith(`${game.turn}_ms`));
  }
  const gap = root.querySelector("[data-gap]");
  if (gap && typeof clocks.white_ms === "number" && typeof clocks.black_ms === "number") {
    const ms = clocks.white_ms - clocks.black_ms;
    const share = Math.max(-1, Math.min(1, ms / (game.start_ms || 60000)));
    gap.querySelector("i").style.setProperty("--share", share.toFixed(3));
    gap.classList.toggle("behind", share < 0);
    write(gap.querySelector("output"), gapText(ms));
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

setInterval(() => {
  for (const face of faces) if (face.game.ticking) paint(face);
}, 100);
