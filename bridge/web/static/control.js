// What the page's buttons have the program do, where it allows that; the sentences are in the reader's language.
import { say } from "./words.js";

const DONE = {
  resigned: "The bot has resigned.",
  draining: "No more games are taken; the program ends when the running ones are over.",
  rereading: "The configuration is being read again; the log tells what came of it.",
  changed: "Judged again: the verdict has changed.",
  unchanged: "Judged again: the verdict is as it was.",
};
const at = (id) => document.getElementById(id);

export function listenToControls() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-control]");
    if (button && button.getAttribute("aria-disabled") !== "true") use(button);
  });
}

// The buttons as the server has them now. They keep the focus while they stay.
export function renewControls(fresh) {
  const old = at("controls");
  const now = fresh.getElementById("controls");
  if (!old || !now || same(old, now)) return;
  const focused = old.contains(document.activeElement);
  old.replaceWith(now);
  if (focused) (now.querySelector("button") ?? at("done")).focus();
}

function same(old, now) {
  const actions = (buttons) => [...buttons.querySelectorAll("[data-control]")].map((button) => button.dataset.control).join();
  return actions(old) === actions(now);
}

async function use(button) {
  if (button.dataset.sure && !(await isSure(button))) return;
  // Not `disabled`, which would take the focus away.
  button.setAttribute("aria-disabled", "true");
  at("done").textContent = "";
  at("done").textContent = await ask(button.dataset.control, button.dataset.game);
  button.removeAttribute("aria-disabled");
}

function isSure(button) {
  const dialog = at("sure");
  at("sure-question").textContent = button.dataset.sure;
  at("sure-yes").textContent = button.textContent;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

async function ask(action, game) {
  try {
    const answer = await fetch(`${document.body.dataset.root}api/control/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(game ? { game } : {}),
    });
    const told = await answer.json();
    return answer.ok ? say(DONE[told.outcome]) : say("It was not done: {reason}", { reason: told.error });
  } catch {
    return say("The program does not answer.");
  }
}
