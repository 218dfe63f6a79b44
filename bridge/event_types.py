"""The closed list of what can stand in the journal: CloudEvents types, each with one line that says what it tells."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GAME_STARTED: Final = "kirichess.game.started"
GAME_RULES: Final = "kirichess.game.rules"
GAME_PLY: Final = "kirichess.game.ply"
GAME_TAKEBACK: Final = "kirichess.game.takeback"
GAME_FINISHED: Final = "kirichess.game.finished"
FLAG_PROVISIONAL: Final = "kirichess.flag.provisional"
FLAG_WITHDRAWN: Final = "kirichess.flag.withdrawn"
VERDICT_PROVISIONAL: Final = "kirichess.verdict.provisional"
VERDICT_FINAL: Final = "kirichess.verdict.final"
VERDICT_CHANGED: Final = "kirichess.verdict.changed"
ANOMALY: Final = "kirichess.anomaly"
CHALLENGE_RECEIVED: Final = "kirichess.challenge.received"
CHALLENGE_ACCEPTED: Final = "kirichess.challenge.accepted"
CHALLENGE_DECLINED: Final = "kirichess.challenge.declined"
CHALLENGE_SENT: Final = "kirichess.challenge.sent"
CHALLENGE_ANSWERED: Final = "kirichess.challenge.answered"
ACCOUNT_ONLINE: Final = "kirichess.account.online"
ACCOUNT_OFFLINE: Final = "kirichess.account.offline"
ENGINE_FAILED: Final = "kirichess.engine.failed"
CHAT_SENT: Final = "kirichess.chat.sent"
CONTROL_USED: Final = "kirichess.control.used"

VERDICTS: Final = (VERDICT_PROVISIONAL, VERDICT_FINAL, VERDICT_CHANGED)

EVENT_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        GAME_STARTED: "a game is followed from now on: players, pool, seat and time control",
        GAME_RULES: "other rules, or plain chess, were agreed on in chat before the second ply: pool and clocks",
        GAME_PLY: "a ply was played: its effects and both clocks after it",
        GAME_TAKEBACK: "plies were taken back: the ledger stands where it stood before them",
        GAME_FINISHED: "the game is over on its platform",
        FLAG_PROVISIONAL: "a KiriChess clock ran out by the local clock; no reading of the platform confirms it yet",
        FLAG_WITHDRAWN: "a provisional flag was wrong: the platform's reading shows time left",
        VERDICT_PROVISIONAL: "the KiriChess result as far as it is known; the final reading may still change it",
        VERDICT_FINAL: "the KiriChess result, from the finest record of the game",
        VERDICT_CHANGED: "a later and finer record gave another result than the one told before",
        ANOMALY: "something in a game does not add up: time given, a gap in the plies, a clock that jumps",
        CHALLENGE_RECEIVED: "somebody challenges an account",
        CHALLENGE_ACCEPTED: "a challenge was accepted",
        CHALLENGE_DECLINED: "a challenge was declined, with the reason",
        CHALLENGE_SENT: "an account challenges a bot by itself",
        CHALLENGE_ANSWERED: "what became of it: accepted, declined, lapsed, refused, or the bot is at its daily limit",
        ACCOUNT_ONLINE: "an account's stream is open, or a watched user (`user:NAME`) or channel (`tv:NAME`) is there",
        ACCOUNT_OFFLINE: "it is lost, and looked for again",
        ENGINE_FAILED: "an engine died, kept silent or answered nonsense",
        CHAT_SENT: "a chat line was sent; a restart reads from it what need not be said again",
        CONTROL_USED: "somebody asks through the monitor to resign, drain, reload or adjudicate: who, and from where",
    }
)
