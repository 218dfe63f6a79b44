"""The challenge desk: who asks whom for a game, what becomes of it, and who is told (Lichess API §1.6)."""

import asyncio

import chess

from bridge.arena import lines
from bridge.arena.accounts import Account
from bridge.arena.challenges import DECLINE_REASONS, Challenge, ChallengeStatus, Wish, check_wish
from bridge.arena.game import Game
from bridge.arena.hall import Hall
from bridge.arena.happenings import Rejected
from bridge.arena.limits import Window
from bridge.arena.streams import LineStream
from bridge.clocks import DAY_MS

_GAMES_IN_PROGRESS = 200


class Desk:
    """All challenges of a hall, by id."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self.challenges: dict[str, Challenge] = {}
        self._kept_alive: dict[str, LineStream] = {}
        self._per_minute = Window(hall.settings.challenge_credits_per_min, 60_000)
        self._per_day = Window(hall.settings.challenge_credits_per_day, DAY_MS)

    def create(
        self,
        me: Account,
        dest: Account,
        wish: Wish,
        keep_alive: LineStream | None = None,
        *,
        rematch_of: str = "",
    ) -> Challenge:
        """Ask; raises Rejected. With `keep_alive` the challenge lives until that stream ends."""
        hall = self._hall
        check_wish(wish, me, dest)
        hall.check_bot_limit(me, dest)
        self._pay(me, dest)
        if any(len([g for g in hall.games_of(a.id) if not g.over]) >= _GAMES_IN_PROGRESS for a in (me, dest)):
            raise Rejected("Challenge not created")
        colors = {"white": chess.WHITE, "black": chess.BLACK}
        asked = Challenge(
            id=hall.new_id(),
            challenger=me,
            dest=dest,
            control=wish.control,
            variant=wish.variant,
            fen=wish.fen,
            rated=wish.rated,
            color=wish.color,
            final_color=colors.get(wish.color, hall.random.random() < 0.5),
            expires_at_ms=hall.now_ms() + round(1000 * hall.settings.challenge_expiry_s),
            rules=wish.rules,
            kept_alive=keep_alive is not None,
            rematch_of=rematch_of,
        )
        self.challenges[asked.id] = asked
        if keep_alive is None:
            hall.spawn(asyncio.create_task(self._expire(asked)))
        else:
            self._kept_alive[asked.id] = keep_alive
        self._tell(asked, "challenge")
        return asked

    def _pay(self, me: Account, dest: Account) -> None:
        now_ms, cost = self._hall.now_ms(), 1 if dest.is_bot else 5
        for window in (self._per_minute, self._per_day):
            if not window.take(me.id, now_ms, cost):
                raise Rejected("Too many requests. Try again later.", status=429)

    async def _expire(self, asked: Challenge) -> None:
        await asyncio.sleep(self._hall.settings.challenge_expiry_s)
        self.lapse(asked)

    def lapse(self, asked: Challenge) -> None:
        """Nobody waits for an answer any more; Lichess tells no one."""
        self._kept_alive.pop(asked.id, None)
        if asked.status is ChallengeStatus.CREATED:
            asked.status = ChallengeStatus.OFFLINE

    def find(self, challenge_id: str) -> Challenge:
        if challenge_id not in self.challenges:
            raise Rejected("Challenge not found", status=404)
        return self.challenges[challenge_id]

    def pending(self, account_id: str, *, incoming: bool) -> list[Challenge]:
        return [
            asked
            for asked in self.challenges.values()
            if asked.status is ChallengeStatus.CREATED
            and (asked.dest if incoming else asked.challenger).id == account_id
        ]

    def accept(self, me: Account, challenge_id: str) -> Game:
        """The game begins under the challenge's id."""
        asked = self.find(challenge_id)
        if asked.dest.id != me.id or asked.status is ChallengeStatus.ACCEPTED:
            raise Rejected("Challenge not found", status=404)
        if asked.status in (ChallengeStatus.CANCELED, ChallengeStatus.DECLINED):
            raise Rejected(f"The challenge has been {asked.status.value}.")
        self._hall.check_bot_limit(me, asked.challenger)
        asked.status = ChallengeStatus.ACCEPTED
        white, black = asked.white_black()
        game = self._hall.pair(
            white,
            black,
            asked.control,
            game_id=asked.id,
            variant=asked.variant,
            fen=asked.fen,
            rated=asked.rated,
            rules=asked.rules,
        )
        self._done(asked)
        return game

    def decline(self, me: Account, challenge_id: str, reason: str) -> None:
        asked = self.find(challenge_id)
        if asked.dest.id != me.id or asked.status not in (ChallengeStatus.CREATED, ChallengeStatus.OFFLINE):
            raise Rejected("Challenge not found", status=404)
        known = {key.lower(): key for key in DECLINE_REASONS}
        asked.status, asked.decline_reason = ChallengeStatus.DECLINED, known.get(reason.lower(), "generic")
        self._tell(asked, "challengeDeclined")
        self._done(asked)

    def cancel(self, me: Account, challenge_id: str) -> None:
        """One's own challenge, or a decline of one that is aimed at oneself."""
        asked = self.find(challenge_id)
        if asked.dest.id == me.id:
            self.decline(me, challenge_id, "generic")
            return
        open_still = asked.status in (ChallengeStatus.CREATED, ChallengeStatus.OFFLINE)
        if asked.challenger.id != me.id or not open_still:
            raise Rejected("Challenge not found", status=404)
        asked.status = ChallengeStatus.CANCELED
        self._tell(asked, "challengeCanceled")
        self._done(asked)

    def _done(self, asked: Challenge) -> None:
        stream = self._kept_alive.pop(asked.id, None)
        if stream is not None:
            stream.send({"done": asked.status.value})
            stream.end()

    def _tell(self, asked: Challenge, kind: str) -> None:
        """Both sides: a challenger hears the echo of its own challenge (§1.3)."""
        body = lines.challenge(asked, self._hall.address)
        for account in (asked.challenger, asked.dest):
            compat = {"bot": account.is_bot, "board": True}
            line: dict[str, object] = {"type": kind, "challenge": body}
            self._hall.audience.event(account.id, {**line, "compat": compat} if kind == "challenge" else line)
