// The list of moves: a row for each pair, a button for each ply, with what it brought its mover.
import { effectRows, totals } from "./effects.js";
import { moveNumber, san, signed } from "./words.js";

export class MoveList {
  constructor(list, select) {
    this.list = list;
    this.buttons = [];
    list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) select(Number(button.dataset.ply));
    });
  }

  show(plies, startFen) {
    this.list.replaceChildren();
    this.buttons = [];
    for (const ply of plies) this.add(ply, startFen);
  }

  add(ply, startFen) {
    const number = moveNumber(ply.ply, startFen);
    let row = this.list.lastElementChild;
    if (!row || number.endsWith(".")) {
      row = document.createElement("li");
      const label = document.createElement("span");
      label.className = "number";
      label.textContent = number;
      row.append(label);
      this.list.append(row);
    }
    const button = move(ply);
    if (number.endsWith("…") && row.childElementCount === 1) button.classList.add("second");
    row.append(button);
    this.buttons.push(button);
  }

  mark(ply) {
    for (const button of this.list.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const button = this.buttons[ply - 1];
    const box = this.list;
    if (!button) {
      box.scrollTop = 0;
      return;
    }
    button.setAttribute("aria-current", "true");
    const at = button.offsetTop;
    if (at < box.scrollTop + 8 || at + button.offsetHeight > box.scrollTop + box.clientHeight - 8) {
      box.scrollTop = at - box.clientHeight / 2;
    }
  }
}

function move(ply) {
  const button = document.createElement("button");
  button.dataset.ply = ply.ply;
  const name = document.createElement("span");
  name.textContent = san(ply.san);
  button.append(name);
  if (ply.counted === false) button.className = "uncounted";
  else {
    const rows = effectRows(ply).slice(1); // without its thinking
    const [mover] = totals(rows);
    const sum = document.createElement("small");
    sum.textContent = ply.guarded ? "⟲" : mover === 0 ? "±0" : signed(mover);
    sum.className = mover > 0 ? "plus" : mover < 0 ? "minus" : "";
    button.append(sum);
  }
  return button;
}
