// Fetches the page anew when the journal tells of something; the server has made and escaped it all.
"use strict";

let waiting = null;

async function refresh() {
  waiting = null;
  const answer = await fetch("./", { cache: "no-store" });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("main").replaceWith(fresh.querySelector("main"));
}

function soon() {
  waiting ??= setTimeout(refresh, 250);
}

const events = new EventSource("events");
for (const type of document.body.dataset.events.split(" ")) events.addEventListener(type, soon);
events.addEventListener("open", soon);
