// What a move did to each clock, and why: the rows of the table, in the order of the rules.
import { say, signed } from "./words.js";

const PIECES = { p: "captures a pawn", n: "captures a knight", b: "captures a bishop", r: "captures a rook", q: "captures a queen" };

// Each row: its words, and what it did to the mover's and to the other clock, in ms (null: nothing).
export function effectRows(ply) {
  const rows = [];
  if (ply.think_ms === null || ply.think_ms === undefined) rows.push([say("thinking (unknown)"), null, null]);
  else rows.push([say("thinking"), -ply.think_ms, null]);
  if (ply.capture) rows.push([say(PIECES[ply.capture.piece]), ply.capture.gain_ms, -ply.capture.loss_ms]);
  if (ply.guarded) rows.push([say("repetition guard"), 0, null]);
  else if (ply.toll_ms) rows.push([say("toll"), -ply.toll_ms, null]);
  if (ply.fee_ms) rows.push([say("promotion fee"), -ply.fee_ms, null]);
  if (ply.chip_ms) rows.push([say("check chip"), ply.chip_ms, -ply.chip_ms]);
  if (ply.increment_ms) rows.push([say("increment"), ply.increment_ms, null]);
  return rows;
}

export function totals(rows) {
  return [1, 2].map((side) => rows.reduce((sum, row) => sum + (row[side] ?? 0), 0));
}

export function showEffects(body, ply) {
  body.replaceChildren();
  if (!ply) return;
  const rows = ply.counted === false ? [] : effectRows(ply);
  for (const row of rows) body.append(line(row, ply.side));
  if (rows.length) {
    const sum = line([say("all in all"), ...totals(rows)], ply.side);
    sum.className = "sum";
    body.append(sum);
  }
}

function line([words, mover, other], side) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = words;
  row.append(head);
  for (const ms of side === "white" ? [mover, other] : [other, mover]) {
    const cell = document.createElement("td");
    if (ms !== null) cell.textContent = ms === 0 ? "0" : signed(ms);
    cell.className = ms > 0 ? "plus" : ms < 0 ? "minus" : "";
    row.append(cell);
  }
  return row;
}
