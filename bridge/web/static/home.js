// The first page, kept current: boards and clocks from the events, everything else from the server's own page.
import { makeBoard, showPosition, turnOf } from "./board.js";
import { forgetClocks, isTicking, showClocks } from "./clocks.js";
import { listenToControls, renewControls } from "./control.js";
import { follow, renewal } from "./events.js";
import { keepFocus } from "./focus.js";
import { moveTo, san, say } from "./words.js";

const cards = new Map();
const MOVED = new Set(["kirichess.game.ply", "kirichess.game.takeback"]);
const CLOCKS = ["white_ms", "black_ms", "platform_white_ms", "platform_black_ms"];
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const PARTS = ["streams", "found", "state"];
const told = new Map(PARTS.map((part) => [part, document.getElementById(part).outerHTML]));

// `seq`: the entry that the card is as new as, at least.
function adopt(article, seq) {
  const game = JSON.parse(article.dataset.game);
  const board = makeBoard(article.querySelector(".board"), { orientation: game.seat === "black" ? "black" : "white" });
  article.classList.toggle("turned", game.seat === "black");
  const card = { article, board, game, seq, at_ms: game.turn_ms };
  cards.set(game.id, card);
  show(card);
}

function show({ article, board, game, at_ms }) {
  const fen = game.fen || START;
  showPosition(board, fen, game.last_uci, game.last_san);
  const shown = { clocks: { at_ms }, turn: turnOf(fen), start_ms: game.base_ms, ply: game.ply, delayed: game.delayed };
  for (const name of CLOCKS) shown.clocks[name] = game[name];
  showClocks(article, { ...shown, ticking: isTicking({ ...shown, judged: game.result !== "", over: !game.running }) });
  const last = game.last_san ? `${moveTo(game.fen)} ${san(game.last_san)}` : game.ply ? "" : say("no move yet");
  article.querySelector("[data-move]").textContent = last;
  const flags = { white: "White’s flag has fallen, to be confirmed", black: "Black’s flag has fallen, to be confirmed" };
  article.querySelector("[data-flag]").textContent = game.flag ? say(flags[game.flag]) : "";
}

function moved(card, event) {
  const { data } = event;
  const { game } = card;
  game.ply = data.ply ?? data.plies ?? game.ply;
  game.fen = data.fen ?? game.fen;
  game.last_uci = data.uci ?? "";
  game.last_san = data.san ?? "";
  for (const name of CLOCKS) game[name] = data[name] ?? game[name];
  game.flag = "";
  card.at_ms = Date.parse(event.time);
  show(card);
}

function take(event, seq) {
  const card = cards.get(event.subject);
  if (card) card.seq = seq;
  if (card && MOVED.has(event.type)) return moved(card, event);
  if (card && event.type.startsWith("kirichess.flag.")) {
    card.game.flag = event.type.endsWith("provisional") ? event.data.side : "";
    return show(card);
  }
  // A move of a game that has no card yet: the server shows it.
  soon();
}

const soon = renewal((fresh) => {
  keepFocus(() => {
    for (const part of PARTS) renew(part, fresh);
    renewCards(fresh);
    times();
  });
  renewControls(fresh);
}, 300);

// What the server tells as before stays: somebody may be about to click on it.
function renew(part, fresh) {
  const now = fresh.getElementById(part);
  if (now.outerHTML === told.get(part)) return;
  told.set(part, now.outerHTML);
  document.getElementById(part).replaceWith(now);
}

// Cards that stay keep their boards and places; the others come and go.
function renewCards(fresh) {
  const seq = seqOf(fresh);
  const place = document.getElementById("cards");
  const kept = [...fresh.getElementById("cards").children].map((child) => {
    const card = cards.get(child.dataset.game && JSON.parse(child.dataset.game).id);
    if (card) renewCard(card, child, seq);
    return card?.article ?? child;
  });
  for (const [id, card] of cards) {
    if (kept.includes(card.article)) continue;
    forgetClocks(card.article);
    card.board.destroy();
    cards.delete(id);
  }
  for (const child of [...place.children]) if (!kept.includes(child)) child.remove();
  kept.forEach((child, i) => {
    if (place.children[i] !== child) place.insertBefore(child, place.children[i] ?? null);
  });
  for (const child of kept) if (child.dataset.game && !cards.has(JSON.parse(child.dataset.game).id)) adopt(child, seq);
}

// Another pool, a verdict: only the server tells them. What an event told after its answer is newer.
function renewCard(card, child, seq) {
  const { article } = card;
  if (seq < card.seq) return soon();
  card.game = JSON.parse(child.dataset.game);
  card.at_ms = card.game.turn_ms;
  card.seq = seq;
  article.querySelector(".pool").textContent = child.querySelector(".pool").textContent;
  article.querySelector(".verdict")?.remove();
  const verdict = child.querySelector(".verdict");
  if (verdict) article.append(verdict);
  show(card);
}

function seqOf(page) {
  return Number(page.querySelector("main").dataset.seq);
}

// Times as the reader's own clock has them.
function times() {
  const lang = document.documentElement.lang;
  const format = new Intl.DateTimeFormat(lang, { dateStyle: "short", timeStyle: "short" });
  for (const time of document.querySelectorAll("time")) time.textContent = format.format(new Date(time.dateTime));
}

for (const article of document.querySelectorAll("article[data-game]")) adopt(article, seqOf(document));
times();
listenToControls();
follow(seqOf(document), null, take, soon);
