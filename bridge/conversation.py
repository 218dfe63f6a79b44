"""One game's talk: greetings, what the clocks have come to, answers to commands, in the game's language.

Nothing here is ever waited for by a move.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from gettext import NullTranslations

import chess
import structlog

from bridge.afterwards import Afterwards
from bridge.decisions import chat_commands, chat_lines
from bridge.decisions.chat_habits import wait_line
from bridge.decisions.pool_choice import safer_control
from bridge.errors import JournalError, PlatformError
from bridge.interfaces import ChatLine, GameInfo, Journal
from bridge.records.one_line import one_line
from bridge.rules.ledger import Ledger
from bridge.rules.pools import Ruleset
from bridge.rules.verdict import Verdict
from bridge.tasks import Tasks
from bridge.voice import Voice
from bridge.words import LANGUAGES, words

log = structlog.get_logger("kirichess_chat")


@dataclass(frozen=True, slots=True)
class Speech:
    """How an account talks. `pool_told`: pool and rules at the start. Lines of its own have fields in braces."""

    language: str = "en"
    pool_told: bool = True
    hello: str = ""
    goodbye: str = ""
    hello_spectators: str = ""
    goodbye_spectators: str = ""
    cpu: str = ""
    ram: str = ""
    """What is told of the machine, where a line has the field."""


class Titles:
    """Who is known to be a person: looked up once, off the move path; nobody is taken for one on a guess."""

    def __init__(self, title_of: Callable[[str], Awaitable[str | None]]) -> None:
        self._title_of = title_of
        self._known: dict[str, str] = {}

    async def is_person(self, user: str) -> bool:
        """Whether the platform knows the name, and not as a bot."""
        name = user.lower()
        if name not in self._known:
            try:
                title = await self._title_of(name)
            except PlatformError as error:
                # Silence is the right answer to whoever may be a bot; the next question looks again.
                log.warning("title_unknown", user=name, cause=str(error))
                return False
            if title is None:
                return False
            self._known[name] = title
            while len(self._known) > 1000:
                del self._known[next(iter(self._known))]
        return self._known[name] != "BOT"


class Conversation:
    """The talk of one game that is open. `facts` are asked for when a question comes.

    `agree`: play in another of the `pools`, None: as plain chess; or what bars it. `wait`: longer for the opponent's
    first move; False: no more.
    """

    def __init__(
        self,
        me: str,
        voice: Voice,
        info: GameInfo,
        side: chess.Color,
        speech: Speech,
        tasks: Tasks,
        journal: Journal,
        titles: Titles | None,
        facts: Callable[[], chat_commands.Facts],
        agree: Callable[[str | None], chat_commands.Bar | None],
        pools: Collection[str],
        wait: Callable[[], bool],
    ) -> None:
        self._me = me
        self._voice = voice
        self._info = info
        self._opponent = info.player(not side)
        self._speech = speech
        self._tasks = tasks
        self._journal = journal
        self._titles = titles
        self._facts = facts
        self._agree = agree
        self._pools = pools
        self._wait = wait
        self._lang = speech.language
        self._marks: set[tuple[chess.Color, int]] = set()
        self._fall_told = False
        self._asking: set[str] = set()
        self._to_spectators = 0
        self._asked: dict[tuple[str, str], None] = {}
        """Commands, with their rooms, that wait for the end."""
        self._concluded = False

    @property
    def words(self) -> NullTranslations:
        """The catalog of the language that is spoken here."""
        return words(self._lang)

    async def open(self) -> None:
        """Greet; what had happened before a restart was told then. Raises JournalError."""
        if chosen := await self._journal.cursor(self._lang_mark):
            self._lang = LANGUAGES[(chosen - 1) % len(LANGUAGES)]
        ledger = self._facts().ledger
        lines = [self._filled(self._speech.hello)]
        rules = ledger.setup.rules
        if self._speech.pool_told and rules.scored:
            lines += chat_lines.greeting(rules, self._safer(rules), self.words)
        for number, line in enumerate(lines):
            if line:
                self._voice.say(line, once="hello" if number == 0 else f"greeting-{number - 1}")
        if line := self._filled(self._speech.hello_spectators):
            self._voice.say(line, once="hello-spectators", room="spectator")
        self._marks = chat_lines.marks_behind(ledger)

    def announce(self, ledger: Ledger) -> None:
        """Say what a clock has come to, each thing once."""
        if ledger.outcome is None:
            if news := chat_lines.marks_passed(ledger, self._marks):
                line = chat_lines.clock_line(ledger, news, self.words)
                self._voice.say(line, once=f"clock-{len(ledger.moves)}")
        elif ledger.platform is None and ledger.certain and not self._fall_told and ledger.outcome.flag is not None:
            self._fall_told = True
            self._voice.say(chat_lines.flag_line(ledger, self.words) or "", once="flag", important=True)

    def conclude(self, judged: Verdict, *, scored: bool) -> None:
        """The verdict where it is `scored` and may be told, what was asked for the end, and goodbye."""
        if scored and (judged.certain or judged.outcome.flag is None):
            # A fall that is not certain is not announced, not even after the end.
            self._voice.say(one_line(judged, self.words), once="verdict", important=True)
        for command, room in self._asked:
            self._tell_at_last(command, room)
        if line := self._filled(self._speech.goodbye):
            self._voice.say(line, once="goodbye", important=True)
        if line := self._filled(self._speech.goodbye_spectators):
            self._voice.say(line, once="goodbye-spectators", important=True, room="spectator")
        self._concluded = True

    def afterwards(self) -> Afterwards | None:
        """Who answers what is asked after the end only; None where nobody may ask. What it says is worked out by now:
        the game need not be kept for that."""
        if not self._concluded or self._opponent.is_bot or not self._voice.can_speak:
            return None
        facts = self._facts()
        answers = {name: chat_commands.reply(name, facts, self.words) or "" for name in chat_commands.AFTER}
        return Afterwards(self._info.id, self._voice, self._opponent, answers, self._asked)

    def _tell_at_last(self, command: str, room: str) -> None:
        answer = chat_commands.reply(command, self._facts(), self.words)
        self._voice.say(answer or "", room=room)

    def heard(self, line: ChatLine) -> None:
        """Answer a person's command: our opponent in either room, spectators in theirs; never ourselves or a bot."""
        user = line.user.lower()
        if not user or user in (self._me.lower(), "lichess") or chat_commands.command_of(line.text) is None:
            return
        if self._opponent.says(line):
            if not self._opponent.is_bot:
                self._answer(line, opponent=True)
        elif line.room == "spectator" and self._titles is not None and user not in self._asking:
            self._asking.add(user)
            self._tasks.spawn(self._answer_a_person(line, self._titles))

    async def _answer_a_person(self, line: ChatLine, titles: Titles) -> None:
        try:
            if await titles.is_person(line.user) and self._to_spectators < chat_lines.SPECTATORS_LINES:
                self._to_spectators += 1
                self._answer(line, opponent=False)
        finally:
            self._asking.discard(line.user.lower())

    def _answer(self, line: ChatLine, *, opponent: bool) -> None:
        command, argument = chat_commands.command_of(line.text) or ("", "")
        if command in chat_commands.AFTER:
            self._asked[command, line.room] = None
        if not self._voice.can_speak and command != "!wait":
            return  # what cannot be told must not change either
        if command == "!lang" and opponent:
            answer = self._speak(argument)
        elif command == "!wait":
            answer = wait_line(self.words, granted=opponent and self._wait())
        elif command == "!standard" or (command == "!pool" and argument):
            choice = None if command == "!standard" else argument
            *before, answer = self._choose(choice, self._bar(line, opponent=opponent))
            for told in before:
                self._voice.say(told, room=line.room)
        else:
            found = chat_commands.reply(line.text, self._facts(), self.words)
            answer = " · ".join(LANGUAGES) if found is None else found
        self._voice.say(answer, room=line.room)

    def _bar(self, line: ChatLine, *, opponent: bool) -> chat_commands.Bar | None:
        """Rules are the two players' affair, and settled where both of them read it."""
        if not opponent:
            return chat_commands.Bar.NOT_THE_OPPONENT
        return None if line.room == "player" else chat_commands.Bar.SPECTATORS_ROOM

    def _choose(self, pool: str | None, bar: chat_commands.Bar | None) -> list[str]:
        """`pool` None: plain chess."""
        if bar is None and pool is not None and pool not in self._pools:
            return [chat_commands.unknown_pool(self._pools, self.words)]
        bar = bar or self._agree(pool)
        if bar is not None:
            return [chat_commands.refusal(bar, self.words)]
        ledger = self._facts().ledger
        self._marks = chat_lines.marks_behind(ledger)
        rules = ledger.setup.rules
        return chat_commands.chosen(rules, self._safer(rules), self.words)

    def _safer(self, rules: Ruleset) -> str | None:
        return safer_control(rules.dials, self._info.time_control)

    def _speak(self, lang: str) -> str:
        if lang not in LANGUAGES:
            return " · ".join(LANGUAGES)
        self._lang = lang
        self._tasks.spawn(self._remember(lang))
        return chat_commands.spoken(self.words)

    async def _remember(self, lang: str) -> None:
        # A cursor only grows: each choice is stored as the next number that stands for its language.
        try:
            last, wanted = await self._journal.cursor(self._lang_mark), LANGUAGES.index(lang) + 1
            while wanted <= last:
                wanted += len(LANGUAGES)
            await asyncio.shield(self._journal.advance(self._lang_mark, wanted))
        except JournalError as error:
            log.warning("language_not_remembered", game=self._info.id, cause=str(error))

    @property
    def _lang_mark(self) -> str:
        return f"lang {self._me} {self._info.id}"

    def _filled(self, template: str) -> str:
        if not template:
            return ""
        facts = self._facts()
        return chat_lines.filled(
            template,
            {
                "opponent": self._opponent.name,
                "me": self._me,
                "pool": chat_lines.pool_name(facts.ledger.setup.rules, self.words),
                "engine": chat_commands.engine_text(facts, self.words),
                "cpu": self._speech.cpu,
                "ram": self._speech.ram,
            },
        )
