"""Every figure of the arena that a test may want to change, with Lichess's own as defaults."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArenaSettings:
    """Durations in seconds of wall time unless the name says otherwise. Section numbers: notes on the Lichess API."""

    keep_alive_s: float = 7.0
    """Blank line on event and player streams (§1.3, §1.5)."""
    watch_keep_alive_s: float = 50.0
    """Blank line on spectator streams and on a challenge kept alive (§1.6, §1.8)."""
    flag_check_s: float = 7.0
    """How often a game with an open player stream is looked at for a fallen flag (§1.5)."""
    buffer_lines: int = 32
    """Lines a slow reader may be behind before the oldest is dropped (§1.3)."""
    spectator_delay_plies: int = 3
    claim_wait_s: float = 0.5
    """Between a claim and the look at whether it worked (§1.4)."""
    gone_after_s: float = 1.0
    """From the end of a player's last stream until the opponent sees them as gone (§1.5)."""
    gone_timeout_s: float = 40.0
    """From then until the win may be claimed; rapid twice, classical three times that."""
    gone_repeat_s: float = 5.0
    challenge_expiry_s: float = 20.0
    online_memo_s: float = 10.0
    """How long an account stays online after its event stream has ended (§1.3)."""
    bot_games_per_day: int = 100
    event_streams_per_10_min: int = 30
    account_reads_per_5_min: int = 30
    challenge_credits_per_min: int = 25
    challenge_credits_per_day: int = 200
    tournament_pairing_s: float = 1.0
    """How often those who wait in a tournament are paired."""
    watch_streams_per_address: int = 8
    list_streams_per_address: int = 4
    listed_per_s: float = 50.0
    """Games a stream of games by ids tells of when it is opened or added to (§1.8)."""
    list_ids_a_call: int = 500
    list_ids_a_stream: int = 1000
    exported_per_s: float = 20.0
    """Games a stranger downloads; whoever bears a token half as many again (§1.8)."""
    board_min_speed: str = "blitz"
    """The fastest speed a game may have to be played through the Board API (§1.4)."""
    repeat_abort_line: bool = False
    """An aborted game's last state is written twice, as Lichess sometimes does (§1.5)."""
    open_accounts: bool = False
    """A token `lip_<name>` or `lip_human_<name>` that nobody has yet makes its account."""
    seed: int | None = None
    """Of game ids and random colours; None for a different run each time."""
