"""The monitor's server: where it listens, and to whom."""

import asyncio
import errno
import logging
import socket
from collections.abc import Sequence
from functools import partial

from aiohttp import web

from bridge.addresses import is_loopback, split_listen
from bridge.errors import UsageError
from bridge.web.connections import IDLE_S, Bounded, Connection, room_for_connections
from bridge.web.guard import demand_host, demand_own_origin
from bridge.web.limits import MOST_BYTES, MOST_HEADERS, Limits
from bridge.web.login import Login

_SILENT = logging.getLogger("kirichess_monitor.http")
_SILENT.disabled = True


class Monitor:
    """Serves a monitor at `listen` (`127.0.0.1:8080`, `[::1]:8080`; port 0: any free one).

    Off loopback a token is needed. `hosts`: names that readers, or a proxy on this machine, know it by.
    `language`: the login page's. Raises UsageError without a token where one is needed, or for an address that is none.
    """

    def __init__(
        self, listen: str, token: str | None = None, *, hosts: Sequence[str] = (), language: str | None = None
    ) -> None:
        self._host, self._port = split_listen(listen)
        if not self._host:
            raise UsageError(f'monitor.listen must be "host:port", such as "127.0.0.1:8080" (got {listen!r})')
        self._token = token
        self._language = language
        self._hosts = frozenset(host.lower() for host in hosts)
        self._limits = Limits(behind_proxy=bool(hosts))
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None
        if not is_loopback(self._host) and not token:
            raise UsageError(
                f"monitor.listen: {listen} can be reached by other machines, so a token is needed: "
                "set monitor.token or monitor.token_file, or listen on 127.0.0.1"
            )
        if hosts and not token:
            raise UsageError("monitor.hosts: a proxy lets other machines in: set monitor.token or monitor.token_file")

    def __repr__(self) -> str:
        return f"<Monitor {self.url}>"

    @property
    def port(self) -> int:
        """The port in use; before `start` the one asked for."""
        return self._port

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)
        return f"http://[{host}]:{self._port}/" if ":" in host else f"http://{host}:{self._port}/"

    async def start(self, app: web.Application) -> None:
        """Listen. Raises UsageError: a taken port, an address that is not this machine's."""
        networked = not is_loopback(self._host)
        own = {self._host.lower(), socket.gethostname().lower()} if networked else set()
        app.middlewares.append(demand_host(self._hosts | own, networked=networked))
        app.middlewares.append(self._limits.check)
        app.middlewares.append(demand_own_origin)
        if self._token:
            Login(self._token, self._limits, self._language).add_to(app)
        # A reader who goes away ends its event stream at once; one who stays does not delay the end of the program.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            # localhost is two addresses, and port 0 would be two ports.
            host = "127.0.0.1" if self._host.lower() == "localhost" else self._host
            self._listening = await self._listen(self._runner, host)
        except (OSError, OverflowError) as error:
            await self.stop()
            raise UsageError(f"monitor.listen: {self._refusal(error)}") from error
        self._port = self._listening.sockets[0].getsockname()[1]

    async def _listen(self, runner: web.AppRunner, host: str) -> asyncio.Server:
        assert runner.server is not None, "it was set up"
        loop = asyncio.get_running_loop()
        connect = partial(
            Connection,
            runner.server,
            loop=loop,
            # They would quote what they cannot read, tokens among it; `errors_as_json` tells of our own faults.
            access_log=_SILENT,
            logger=_SILENT,
            keepalive_timeout=IDLE_S,
            max_line_size=MOST_BYTES,
            max_field_size=MOST_BYTES,
            max_headers=MOST_HEADERS,
        )
        return await loop.create_server(Bounded(runner.server, room_for_connections(), connect), host, self._port)

    async def stop(self) -> None:
        """Let go of the port and of every reader."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _refusal(self, error: OSError | OverflowError) -> str:
        place = f"{self._host}:{self._port}"
        if isinstance(error, OverflowError):
            return f"{place} is no port; choose one from 0 to 65535"
        if error.errno == errno.EADDRINUSE:
            return f"{place} is taken by another program; stop that one, or choose another port (0: any free one)"
        if error.errno == errno.EACCES:
            return f"{place} is for root only; choose a port from 1024"
        if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
            return f"{self._host} is no address of this machine; choose 127.0.0.1"
        return f"{place}: {error.strerror or error}"
