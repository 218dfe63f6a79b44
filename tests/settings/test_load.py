"""The configuration file: what is wrong with it, all at once and at its place, and what comes out when nothing is."""

import os
from fractions import Fraction
from pathlib import Path

import pytest
from pydantic import ValidationError

from bridge.decisions.pool_choice import Terms
from bridge.errors import SettingsError
from bridge.rules.snapshot import TimeControl
from bridge.settings import Settings, load
from bridge.settings.engines import KiriEngine, PythonEngine, UciEngine
from bridge.settings.watch import WatchAccount, WatchGame, WatchTv, WatchUser

AS_DOCUMENTED = """\
accounts:
  - platform: lichess
    url: https://lichess.org
    token: ${LICHESS_TOKEN}
    play:
      engine: main
      pool: {by_time_control: {"6+0": anchor, "5+0": fulcrum}}
engines:
  main: {kind: kiri}
watch:
  - {game: abcdefgh, pool: anchor}
  - {user: somebody, pool: anchor, time_control: "10+0", rated: false}
  - {tv: blitz, pool: fulcrum}
  - {account: me, pool: anchor}
journal: {url: "sqlite:///journal.db"}
monitor: {listen: "127.0.0.1:8080"}
webhooks: [{url: "http://127.0.0.1:9999/hook", secret: ${HOOK_SECRET}, events: ["kirichess.verdict.*"]}]
"""
PLAYING = """\
accounts:
  - platform: lichess
    token: ${TOKEN}
    play: {engine: main}
engines: {main: {kind: kiri}}
"""
VARIABLES = {"LICHESS_TOKEN": "lip_secret", "HOOK_SECRET": "whsec_aGlkZGVu", "TOKEN": "lip_secret", "POOL": "anchor"}


@pytest.fixture
def read(tmp_path: Path) -> "Reader":
    return Reader(tmp_path / "c.yml")


class Reader:
    """Writes a text and loads it; findings come back without the file's name."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.warnings: list[str] = []

    def settings(self, text: str, **variables: str) -> Settings:
        self.file.write_text(text)
        return load(self.file, variables=VARIABLES | variables)

    def check(self, text: str) -> Settings:
        self.file.write_text(text)
        return load(self.file, mode="check", warn=self.warnings.append, variables=VARIABLES)

    def problems(self, text: str, **variables: str) -> list[str]:
        with pytest.raises(SettingsError) as caught:
            self.settings(text, **variables)
        assert "lip_secret" not in str(caught.value)
        return [line.removeprefix(f"{self.file}:") for line in caught.value.problems]

    def problem(self, text: str, **variables: str) -> str:
        (line,) = self.problems(text, **variables)
        return line


def test_the_documented_file_is_read_as_it_says(read: Reader) -> None:
    settings = read.settings(AS_DOCUMENTED)
    (account,) = settings.accounts
    assert account.token is not None
    assert account.token.get_secret_value() == "lip_secret"
    assert account.play is not None
    assert account.play.pools.otherwise == {"6+0": "anchor", "5+0": "fulcrum"}
    assert settings.engines == {"main": KiriEngine(kind="kiri")}
    assert [type(entry) for entry in settings.watch] == [WatchGame, WatchUser, WatchTv, WatchAccount]
    assert settings.journal.url == f"sqlite:///{read.file.parent}/journal.db"
    assert settings.monitor is not None
    assert (settings.monitor.host, settings.monitor.port) == ("127.0.0.1", 8080)
    assert settings.webhooks[0].events == ("kirichess.verdict.*",)


def test_no_secret_is_in_what_settings_show_of_themselves(read: Reader) -> None:
    settings = read.settings(AS_DOCUMENTED)
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert "lip_secret" not in shown
        assert "whsec_aGlkZGVu" not in shown


def test_every_finding_is_told_at_once_each_at_its_place(read: Reader) -> None:
    text = """\
accounts:
  - platform: lichss
    tokn: x
    token: ${TOKEN}
    play:
      engine: mian
      concurrency: "2"
      move_overhead: -1
      greeting: 3
      pool: {by_time_control: {6:00: anchor, "5+0": fulcrm}}
      challenge: {variants: [standard, crazyhouse], accept_bots: no}
engines:
  main: {kind: usi}
  own: {kind: uci}
watch:
  - {gam: abcdefgh, pool: anchor}
  - {game: short, pool: anchor}
  - {tv: blitz, user: somebody, pool: anchor}
  - {account: you, pool: anchor}
  - {tv: blitz}
journal: {url: postgres}
monitor: {listen: "0.0.0.0:80", hosts: [a.example]}
webhooks: {url: "http://127.0.0.1"}
webhook: []
"""
    found = read.problems(text)
    starts = [
        "2:15: accounts[0].platform: unknown platform 'lichss'; did you mean 'lichess'?",
        "3:5: accounts[0]: unknown key 'tokn'; did you mean 'token'?",
        "6:15: accounts[0].play.engine: unknown engine 'mian'; did you mean 'main'?",
        "7:20: accounts[0].play.concurrency: must be a whole number, not '2'",
        "8:22: accounts[0].play.move_overhead: must be 0 or more",
        "9:17: accounts[0].play.greeting: must be true or false, not 3",
        "10:32: accounts[0].play.pool.by_time_control.6:00: a time control is minutes+seconds",
        "10:53: accounts[0].play.pool.by_time_control.5+0: unknown pool 'fulcrm'; did you mean 'fulcrum'?",
        "11:40: accounts[0].play.challenge.variants[1]: unknown variants 'crazyhouse' (known: standard, chess960, from",
        "11:53: accounts[0].play.challenge: unknown key 'accept_bots'; did you mean 'accept_bot'?",
        "13:16: engines.main.kind: unknown kind 'usi'; did you mean 'uci'? (known: kiri, uci, xboard, python, random)",
        "14:8: engines.own: the key 'path' is missing",
        "16:6: watch[0]: unknown key 'gam'; did you mean 'game'?",
        "17:12: watch[1].game: a game id is eight letters and digits, not 'short'",
        "18:5: watch[2]: names user and tv: make it an entry for each",
        "19:15: watch[3].account: unknown account 'you'",
        "20:5: watch[4]: needs a pool to be judged in (known: winder, ratchet",
        "21:16: journal.url: must be sqlite:///FILE",
        "22:19: monitor.listen: can be reached from other machines: give monitor a token or token_file",
        "22:40: monitor.hosts: lets other machines in: give monitor a token or token_file",
        "23:11: webhooks: must be a list",
        "24:1: unknown key 'webhook'; did you mean 'webhooks'?",
    ]
    assert len(found) == len(starts)
    for line, start in zip(found, starts, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("time_control: 6:00", 'write it in quotes: "6:00"'),
        ("time_control: 360", "must be text"),
        ('time_control: "6:00"', "minutes+seconds"),
        ("rated: 0", "must be true or false, not 0"),
        ("rules: {capture_multiplie: 2}", "unknown dial 'capture_multiplie'; did you mean 'capture_multiplier'?"),
        ("rules: {tolls_s: {pawn: -1}}", "tolls_s.pawn must be 0 or more"),
        ("rules: {f_mode: 2, chip_multiplier: 1}", "f_mode sets the multipliers itself"),
        ("rules: {pool: anchor}", "contradicts pool"),
    ],
)
def test_what_a_watched_user_may_not_have(read: Reader, written: str, told: str) -> None:
    assert told in read.problem(f"watch: [{{user: somebody, pool: anchor, {written}}}]")


def test_a_user_called_no_or_all_digits_must_be_quoted(read: Reader) -> None:
    assert 'YAML reads no as false; write it in quotes: "no"' in read.problem("watch: [{user: no, pool: anchor}]")
    assert 'write it in quotes: "1234"' in read.problem("watch: [{user: 1234, pool: anchor}]")
    (entry,) = read.settings('watch: [{user: "no", pool: anchor}]').watch
    assert isinstance(entry, WatchUser)
    assert entry.user == "no"


def test_a_duplicate_key_does_not_hide_other_findings(read: Reader) -> None:
    found = read.problems("monitor: {listen: 1}\njournal: {url: 2}\nmonitor: {listen: 3}\n")
    assert [line.split(": ")[0] for line in found] == ["1:19", "2:16", "3:1"]


def test_broken_yaml_is_one_line_with_its_place(read: Reader) -> None:
    assert read.problem("accounts:\n  - {a: 1\nwatch: []\n").startswith("3:6: this is not YAML: ")


def test_an_empty_file_and_a_list_are_told(read: Reader) -> None:
    assert "config init" in read.problem("# nothing\n")
    assert "must be a table of keys" in read.problem("- 1\n")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda file: None, "no such file"),
        (lambda file: file.mkdir(), "cannot be read"),
        (lambda file: file.write_bytes(b"\xff\xfe\x00"), "is not UTF-8"),
        (lambda file: file.write_bytes(b"#" * 2_000_000), "too large"),
    ],
    ids=["missing", "folder", "binary", "huge"],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, make: "Maker", told: str) -> None:
    file = tmp_path / "c.yml"
    make(file)
    with pytest.raises(SettingsError) as caught:
        load(file)
    (line,) = caught.value.problems
    assert line.startswith(str(file))
    assert told in line


class Maker:
    def __call__(self, file: Path) -> object: ...


def test_an_unset_variable_is_an_error_in_run_and_a_warning_in_check(read: Reader) -> None:
    text = PLAYING.replace("TOKEN", "NOT_THERE")
    assert read.problem(text) == "3:12: accounts[0].token: the environment variable NOT_THERE is not set"
    read.check(text)
    assert [line.endswith("the environment variable NOT_THERE is not set") for line in read.warnings] == [True]


def test_an_unset_variable_does_not_bring_other_findings_with_it(read: Reader) -> None:
    text = "monitor: {listen: '${HOST}:${PORT}'}\nwatch: [{tv: blitz, pool: ${WHICH}}]"
    found = read.problems(text)
    assert [line.split(" ", 1)[1] for line in found] == [
        "monitor.listen: the environment variable PORT is not set",
        "watch[0].pool: the environment variable WHICH is not set",
    ]


def test_what_a_variable_holds_is_never_shown(read: Reader) -> None:
    assert "unknown pool '${TOKEN}'" in read.problem("watch: [{tv: blitz, pool: ${TOKEN}}]")
    assert "lip_" not in read.problem("accounts: [{platform: lichess, url: ${TOKEN}}]")
    told = read.problem("webhooks: [{url: 'http://x', secret: ${BAD}}]", BAD="whsec_!")
    assert "webhooks[0].secret: after whsec_ must come base64" in told
    assert "!" not in told
    assert "lip_…" in read.problem("accounts: [{platform: lip_secret}]")
    assert "1234" not in read.problem("accounts: [{platform: lichess, token: 12345678}]")


def test_an_empty_token_is_told(read: Reader) -> None:
    assert "accounts[0].token: must not be empty" in read.problem(PLAYING, TOKEN="")


def test_a_token_file_is_read_from_the_files_own_folder(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "token").write_text("lip_secret\n")
    settings = read.settings(PLAYING.replace("token: ${TOKEN}", "token_file: sub/token"))
    assert settings.accounts[0].token is not None
    assert settings.accounts[0].token.get_secret_value() == "lip_secret"


def test_a_systemd_credential_is_a_token_file(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "lichess-token").write_text("lip_secret")
    text = PLAYING.replace("token: ${TOKEN}", "token_file: ${CREDENTIALS_DIRECTORY}/lichess-token")
    settings = read.settings(text, CREDENTIALS_DIRECTORY=str(tmp_path))
    assert settings.accounts[0].token is not None
    assert settings.accounts[0].token.get_secret_value() == "lip_secret"


@pytest.mark.parametrize(("content", "told"), [("", "is empty"), ("lip_secret more", "nothing else")])
def test_a_token_file_must_hold_a_token(read: Reader, tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "token").write_text(content)
    assert told in read.problem(PLAYING.replace("token: ${TOKEN}", "token_file: token"))


def test_a_missing_token_file_is_an_error_in_run_and_a_warning_in_check(read: Reader) -> None:
    text = PLAYING.replace("token: ${TOKEN}", "token_file: nowhere")
    assert "nowhere cannot be read: No such file" in read.problem(text)
    read.check(text)
    assert len(read.warnings) == 1
    assert "nowhere cannot be read" in read.warnings[0]


def test_one_token_and_no_more(read: Reader) -> None:
    assert "give one of the two" in read.problem(PLAYING.replace("token: ${TOKEN}", "token: x\n    token_file: y"))
    assert "needs token" in read.problem(PLAYING.replace("token: ${TOKEN}", "name: bot"))


def test_check_warns_of_a_token_in_the_file_without_showing_it(read: Reader) -> None:
    read.check(PLAYING.replace("${TOKEN}", "lip_secret"))
    (line,) = read.warnings
    assert "3:12: accounts[0].token: the token itself stands in the file" in line
    assert "lip_secret" not in line


def test_check_warns_of_shares_that_look_like_seconds_and_of_nothing_to_do(read: Reader) -> None:
    read.check("watch: [{tv: blitz, rules: {economy: {gain: 5, loss: 1}}}]")
    assert "share of the piece's value" in read.warnings.pop()
    read.check("journal: {url: 'sqlite:///x.db'}")
    assert "nothing to do" in read.warnings.pop()
    read.check(PLAYING)
    assert read.warnings == []


def test_me_needs_one_account_with_a_token(read: Reader) -> None:
    me = "watch: [{account: me, pool: anchor}]\n"
    assert "needs an account with a token" in read.problem(me)
    two = me + "accounts: [{platform: lichess, token: a}, {platform: lichess, token: b, name: bot}]\n"
    assert "there are several accounts" in read.problem(two)
    read.settings(two.replace("account: me", "account: bot"))
    assert "needs an account with a token" in read.problem(
        two.replace("account: me", "account: bot").replace("token: b, ", "")
    )


def test_an_account_has_one_stream(read: Reader) -> None:
    two = "accounts: [{platform: lichess, token: a}, {platform: lichess, url: 'https://lichess.org/', token: %s}]\n"
    tv = "watch: [{tv: blitz, pool: anchor}]\n"
    read.settings(tv + two % "b")
    assert "accounts[1].token: is that of another account here" in read.problem(tv + two % "a")
    read.settings(tv + two.replace("lichess.org/", "example.org") % "a")
    one = "accounts: [{platform: lichess, token: a, name: bot}]\nwatch: [{account: me, pool: anchor}, %s]\n"
    assert "watch[1].account: its games are followed already" in read.problem(one % "{account: bot, pool: winder}")
    read.settings(one % "{tv: blitz, pool: winder}")


def test_watching_an_account_that_plays_does_nothing_and_is_told(read: Reader) -> None:
    read.check(PLAYING + "watch: [{account: me, pool: anchor}]")
    (warning,) = read.warnings
    assert "watch[0].account: this account plays" in warning


def test_off_loopback_a_token_is_needed(read: Reader) -> None:
    for listen in ("0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example:80"):
        assert "token" in read.problem(f'monitor: {{listen: "{listen}"}}')
        read.settings(f'monitor: {{listen: "{listen}", token: ${{TOKEN}}}}')
    for listen in ("127.0.0.1:80", "[::1]:80", "localhost:0", "127.3.2.1:80"):
        read.settings(f'monitor: {{listen: "{listen}"}}')
    for listen in ("80", ":80", "127.0.0.1", "127.0.0.1:99999", "a b:80"):
        assert "host:port" in read.problem(f'monitor: {{listen: "{listen}"}}')


@pytest.mark.parametrize("url", ["lichess.org", "ftp://x", "http://", "http://u:p@x", "http://x:99999"])
def test_an_address_is_http(read: Reader, url: str) -> None:
    assert "accounts[0].url: " in read.problem(f"accounts: [{{platform: lichess, url: '{url}'}}]")


def test_a_greeting_holds_no_link(read: Reader) -> None:
    told = read.problem(
        "accounts:\n  - {platform: lichess, token_file: t, play: {engine: a, greeting: {hello: See https://a.org}}}\n"
        "engines: {a: {kind: random}}\n"
    )
    assert "greeting.hello: no links are said in chat" in told


def test_an_event_pattern_must_fit_an_event(read: Reader) -> None:
    told = read.problem("webhooks: [{url: 'http://x', events: [kirichess.verdict.finl]}]")
    assert "did you mean 'kirichess.verdict.final'?" in told


def test_a_blank_key_is_left_out(read: Reader) -> None:
    settings = read.settings(PLAYING + "watch:\njournal:\nmonitor:\n")
    assert settings.watch == ()
    assert settings.monitor is None


def test_rules_change_the_pools_dials(read: Reader) -> None:
    settings = read.settings(PLAYING.replace("engine: main", "engine: main, rules: {chip_s: 3}"))
    assert settings.accounts[0].play is not None
    ruleset = settings.accounts[0].play.ruleset(Terms(TimeControl(360_000, 0)))
    assert ruleset is not None
    assert (ruleset.pool, ruleset.dials.base_s, ruleset.dials.chip_s) == (None, Fraction(360), Fraction(3))
    assert settings.accounts[0].play.ruleset(Terms(TimeControl(180_000, 2000))) is None


def test_paths_count_from_the_files_folder(read: Reader, tmp_path: Path) -> None:
    text = """\
engines:
  near: {kind: uci, path: bin/engine}
  known: {kind: uci, path: stockfish}
  own: {kind: python, plugin: "own.py:Engine"}
  installed: {kind: python, plugin: "own:Engine"}
pgn: {folder: games}
"""
    settings = read.settings(text)
    paths = {name: engine.path for name, engine in settings.engines.items() if isinstance(engine, UciEngine)}
    assert paths == {"near": str(tmp_path / "bin/engine"), "known": "stockfish"}
    plugins = {name: engine.plugin for name, engine in settings.engines.items() if isinstance(engine, PythonEngine)}
    assert plugins == {"own": f"{tmp_path}/own.py:Engine", "installed": "own:Engine"}
    assert settings.pgn is not None
    assert settings.pgn.folder == str(tmp_path / "games")


def test_the_variables_of_secrets_leave_the_environment_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**VARIABLES, "MONITOR": "secret"}.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "c.yml"
    more = "engines: {main: {kind: uci, path: engine, options: {Pool: '${POOL}'}}}"
    file.write_text(AS_DOCUMENTED.replace("engines:\n  main: {kind: kiri}", more))
    load(file)
    assert os.environ["LICHESS_TOKEN"] == "lip_secret"
    settings = load(file, forget=True)
    assert settings.accounts[0].token is not None
    assert not {"LICHESS_TOKEN", "HOOK_SECRET"} & os.environ.keys()
    assert os.environ["POOL"] == "anchor"


def test_one_address_may_have_several_webhooks_but_not_the_same_one_twice(read: Reader) -> None:
    hooks = "webhooks: [{url: 'http://127.0.0.1:9/h', events: [%s]}, {url: 'http://127.0.0.1:9/h', events: [%s]}]\n"
    assert len(read.settings(PLAYING + hooks % ("kirichess.verdict.*", "kirichess.anomaly")).webhooks) == 2
    with pytest.raises(SettingsError, match="says the same as an entry above"):
        read.settings(PLAYING + hooks % ("kirichess.anomaly", "kirichess.anomaly"))


OWN_POOLS = """\
pools:
  Sprint: {pool: winder, base_s: 30, economy: steal}
accounts:
  - platform: lichess
    token: ${TOKEN}
    play:
      engine: main
      pool: {by_time_control: {"1+0": sprint}, by_opponent: {Ann: SPRINT}}
      engines: [{engine: main, pool: sprint}]
      polyglot: {book: {sprint: [book.bin]}}
      rules: {chip_s: 1}
engines: {main: {kind: kiri}}
watch: [{tv: blitz, pool: sprint}]
"""


def test_a_pool_of_ones_own_stands_wherever_a_pool_does(read: Reader) -> None:
    settings = read.settings(OWN_POOLS)
    (entry,), (account,) = settings.watch, settings.accounts
    watched = entry.ruleset()
    assert (watched.pool, int(watched.dials.base_s), watched.dials.economy) == ("sprint", 30, "steal")
    play = account.play
    assert play is not None and list(play.rulesets)[-1] == "sprint" and "anchor" in play.rulesets
    own = play.ruleset(Terms(TimeControl(60_000, 0)))
    assert own is not None and own.pool is None, "its own dials differ"
    assert (int(own.dials.base_s), int(own.dials.chip_s)) == (30, 1)
    assert Settings.model_validate({"watch": [{"tv": "blitz", "pool": "anchor"}]}).watch[0].ruleset().pool == "anchor"
    with pytest.raises(ValidationError, match="unknown pool 'sprint'"):
        Settings.model_validate({"watch": [{"tv": "blitz", "pool": "sprint"}]})


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("anchor: {base_s: 30}", "2:3: pools.anchor: 'anchor' is taken: give your pool another name"),
        ("two words: {base_s: 30}", "2:3: pools.two words: a pool's name is letters, digits and hyphens"),
        ("sprint: {base_s: 0}", "2:20: pools.sprint.base_s: base_s must be above 0, not 0"),
        ("sprint: {pool: windr}", "2:18: pools.sprint.pool: unknown pool 'windr'; did you mean 'winder'?"),
        ("sprint: {base: 30}", "2:18: pools.sprint.base: unknown dial 'base'; did you mean 'base_s'?"),
        ("sprint: 30", "2:11: pools.sprint: must be a table of keys, not 30"),
    ],
)
def test_what_is_wrong_with_a_pool_of_ones_own_is_told_where_it_stands(read: Reader, table: str, line: str) -> None:
    (found,) = read.problems(f"pools:\n  {table}\nwatch: [{{tv: blitz, pool: anchor}}]\n")
    assert found.startswith(line)


def test_an_unknown_pool_is_told_with_ones_own(read: Reader) -> None:
    (found,) = read.problems(OWN_POOLS.replace("by_opponent: {Ann: SPRINT}", "by_opponent: {Ann: sprnt}"))
    assert "unknown pool 'sprnt'; did you mean 'sprint'?" in found
