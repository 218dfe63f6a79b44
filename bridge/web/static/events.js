// The journal's events as they come, each once and in order, however often the line is lost.
import { say } from "./words.js";

const page = document.body.dataset;

// `game`: that game's alone (null: all). `take(event)` gets each CloudEvent; `again()` is called when a lost line is back.
export function follow(after, game, take, again = () => {}) {
  const state = { seq: after, lost: false };
  open(state, game, take, again);
  return state;
}

function open(state, game, take, again) {
  const only = game === null ? "" : `&game=${encodeURIComponent(game)}`;
  const source = new EventSource(`${page.root}events?after=${state.seq}${only}`);
  for (const type of page.events.split(" ")) {
    source.addEventListener(type, (message) => {
      const seq = Number(message.lastEventId);
      if (seq <= state.seq) return;
      state.seq = seq;
      take(JSON.parse(message.data), seq);
    });
  }
  source.addEventListener("open", () => {
    show(true);
    if (state.lost) again();
    state.lost = false;
  });
  source.addEventListener("error", () => {
    show(false);
    state.lost = true;
    // The browser tries again by itself, except after an answer that refuses.
    if (source.readyState === EventSource.CLOSED) setTimeout(reopen, 2000, state, game, take, again);
  });
}

// A session that has ended is begun anew on the login page, which this address shows then.
async function reopen(...line) {
  const answer = await fetch(`${page.root}readyz`, { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (answer?.status === 401) location.reload();
  else open(...line);
}

function show(alive) {
  const line = document.getElementById("line");
  line.classList.toggle("lost", !alive);
  line.firstElementChild.textContent = alive ? say("live") : say("connection lost, trying again");
}

// The page anew from the server, which has made and escaped it all; null while it does not answer.
export async function fetchPage() {
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null; // the line is lost: it is fetched when it is back
  }
}
