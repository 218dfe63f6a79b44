"""Actions that are asked for once, as requests (API §1.4, §1.6)."""

from dataclasses import dataclass, field

from bridge.interfaces import (
    Abort,
    AcceptChallenge,
    Action,
    AnswerDraw,
    AnswerTakeback,
    CancelChallenge,
    ClaimDraw,
    ClaimVictory,
    DeclineChallenge,
    PlayMove,
    Resign,
    Say,
)
from bridge.platforms.lichess.gate import Lane


@dataclass(frozen=True, slots=True)
class Post:
    """A request that is made once; `kind` of endpoint is what a 429 holds."""

    path: str
    lane: Lane
    kind: str
    form: dict[str, str] = field(default_factory=dict)


def post_of(action: Action) -> Post:
    """The request for an action other than a move, a resignation or a claim."""
    match action:
        case Abort(game_id):
            return Post(f"/api/bot/game/{game_id}/abort", Lane.CLAIM, "abort")
        case AnswerDraw(game_id, accept):
            return Post(f"/api/bot/game/{game_id}/draw/{'yes' if accept else 'no'}", Lane.CLAIM, "draw")
        case AnswerTakeback(game_id, accept):
            return Post(f"/api/bot/game/{game_id}/takeback/{'yes' if accept else 'no'}", Lane.CLAIM, "takeback")
        case Say(game_id, text, room):
            return Post(f"/api/bot/game/{game_id}/chat", Lane.CHAT, "chat", {"room": room, "text": text})
        case AcceptChallenge(challenge_id):
            return Post(f"/api/challenge/{challenge_id}/accept", Lane.ACCEPT, "accept")
        case DeclineChallenge(challenge_id, reason):
            return Post(f"/api/challenge/{challenge_id}/decline", Lane.ACCEPT, "decline", {"reason": reason})
        case CancelChallenge(challenge_id):
            return Post(f"/api/challenge/{challenge_id}/cancel", Lane.ACCEPT, "cancel")
        case PlayMove() | Resign() | ClaimVictory() | ClaimDraw():
            raise AssertionError("sent until accepted, not once")
