// What the scripts say, in the page's language; clocks and amounts as its readers write them.
const given = JSON.parse(document.getElementById("words").textContent);

export function say(message, values = {}) {
  const text = given.messages[message] ?? message;
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// As the server writes a clock: 5:07, below a minute with tenths; cut, not rounded.
export function clockText(ms) {
  if (ms === null || ms === undefined) return "–";
  const sign = ms < 0 ? "-" : "";
  const whole = Math.abs(Math.trunc(ms));
  const minutes = Math.floor(whole / 60000);
  const rest = whole % 60000;
  const seconds = String(Math.floor(rest / 1000)).padStart(2, "0");
  if (minutes) return `${sign}${minutes}:${seconds}`;
  return `${sign}0:${seconds}${given.decimal}${Math.floor((rest % 1000) / 100)}`;
}

// Exact seconds without needless digits.
export function seconds(ms) {
  return (ms / 1000).toFixed(3).replace(/\.?0+$/, "").replace(".", given.decimal);
}

export function signed(ms) {
  return `${ms < 0 ? "−" : "+"}${seconds(Math.abs(ms))}`;
}

// A gap as people read it: tenths are enough.
export function gapText(ms) {
  const tenths = Math.round(Math.abs(ms) / 100) / 10;
  return `${ms < 0 ? "−" : "+"}${tenths.toFixed(1).replace(".", given.decimal)}`;
}

export function san(text) {
  return text.replace(/[KQRBN]/g, (letter) => given.pieces["KQRBN".indexOf(letter)]);
}

// "12." or "12…": the number of a ply, from where the game began.
export function moveNumber(ply, startFen) {
  const parts = (startFen ?? "").split(" ");
  const late = parts[1] === "b" ? 1 : 0;
  const half = ply - 1 + late;
  return `${(Number(parts[5]) || 1) + Math.floor(half / 2)}${half % 2 ? "…" : "."}`;
}

// The number of the ply that led to a position; empty where that is not known.
export function moveTo(fen) {
  return fen ? moveNumber(0, fen) : "";
}
