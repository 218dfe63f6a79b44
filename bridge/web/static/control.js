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
  enable(document);
}

// The server disables them: without this script they could do nothing.
function enable(place) {
  for (const button of place.querySelectorAll("[data-control]")) button.disabled = false;
}

// The buttons as the server has them now. They keep the focus while they stay.
export function renewControls(fresh) {
  const old = at("controls");
  const now = fresh.getElementById("controls");
  if (!old || !now || same(old, now)) return;
  enable(now);
  const focused = old.contains(document.activeElement);
  const button = now.querySelector("button");
  // Before the last button goes: a panel with neither button nor word nor focus is hidden.
  if (focused && !button) at("done").focus();
  old.replaceWith(now);
  if (focused) button?.focus();
}

function same(old, now) {
  const actions = (buttons) => [...buttons.querySelectorAll("[data-control]")].map((button) => button.dataset.control).join();
  return actions(old) === actions(now);
}

function use(button) {
  if (button.dataset.sure) askWhetherSure(button);
  else act(button);
}

// Not by the dialog's close event, which comes late: another question may stand by then.
function askWhetherSure(button) {
  const dialog = at("sure");
  at("sure-question").textContent = button.dataset.sure;
  at("sure-yes").textContent = button.textContent;
  dialog.querySelector("form").onsubmit = (event) => {
    if (event.submitter === at("sure-yes")) act(button);
  };
  dialog.showModal();
}

async function act(button) {
  // Not `disabled`, which would take the focus away.
  button.setAttribute("aria-disabled", "true");
  at("done").textContent = "";
  at("done").textContent = await ask(button.dataset.control, button.dataset.game);
  button.removeAttribute("aria-disabled");
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
