// The journal's events as they come, each once and in order, however often the line is lost.
import { say } from "./words.js";

const page = document.body.dataset;
const AGAIN_MS = 2000;

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
    if (source.readyState === EventSource.CLOSED) setTimeout(reopen, AGAIN_MS, state, game, take, again);
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

// The page kept as the server has it: call what this gives when something has happened, and `take` gets the page anew.
// One request at a time, `pause_ms` after the call; what happens meanwhile has another one follow.
export function renewal(take, pause_ms = 0) {
  let stale = false;
  let busy = false;
  async function renew() {
    busy = true;
    try {
      while (stale) {
        await pause(pause_ms);
        stale = false;
        const fresh = await fetchPage();
        if (fresh) take(fresh);
      }
    } finally {
      busy = false;
    }
  }
  return () => {
    stale = true;
    if (!busy) renew();
  };
}

// The server has made and escaped it all. Asked for until it answers; null: it refuses.
async function fetchPage() {
  for (;;) {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.ok) return new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.status < 500 && answer.status !== 429) return null;
    } catch {
      // The line is lost, and comes back.
    }
    await pause(AGAIN_MS);
  }
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
