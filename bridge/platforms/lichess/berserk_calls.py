"""What is not live goes through berserk, request by request, in threads of its own (API §5).

Each thread has its own session: requests does not promise that one can be shared. The session's adapter sets the
timeouts that berserk cannot.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import berserk
import requests
from berserk.exceptions import ApiError, ResponseError
from requests.adapters import HTTPAdapter

from bridge.errors import PlatformError, Unreachable
from bridge.platforms.lichess.answers import Answer, no_answer

T = TypeVar("T")

_THREADS = 4


class _TimeoutAdapter(HTTPAdapter):
    """berserk never gives a timeout: without this a silent server would block its thread for ever (§5.3)."""

    def __init__(self, timeout_s: tuple[float, float]) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
        proxies: dict[str, str] | None = None,
    ) -> requests.Response:
        return super().send(request, stream, timeout or self._timeout_s, verify, cert, proxies)


class BerserkCalls:
    """berserk clients of one account, one a thread; `user_agent` is asked for at each call."""

    def __init__(self, url: str, token: str, user_agent: Callable[[], str], timeout_s: tuple[float, float]) -> None:
        self._url = url
        self._token = token
        self._user_agent = user_agent
        self._timeout_s = timeout_s
        self._local = threading.local()
        self._sessions: list[requests.Session] = []
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="kirichess_lichess")

    def __repr__(self) -> str:
        return f"BerserkCalls({self._url!r})"

    async def call(self, what: str, ask: Callable[[berserk.Client], T]) -> T:
        """The result of `ask`, run in a thread; `what` names it in errors. Raises PlatformError.

        When canceled, the request goes on in its thread, and its answer is thrown away.
        """
        try:
            asked = asyncio.get_running_loop().run_in_executor(self._threads, self._ask, what, ask)
        except RuntimeError as error:
            raise Unreachable(f"{what}: this account is closed") from error
        found = await asked
        if isinstance(found, PlatformError):
            raise found
        return found

    def _ask(self, what: str, ask: Callable[[berserk.Client], T]) -> T | PlatformError:
        """Errors come back as values, made new: those of the libraries hold the request and with it the token."""
        try:
            return ask(self._client())
        except ResponseError as error:
            response = error.response
            return Answer(what, response.status_code, response.headers, response.content).error()
        except ApiError as error:
            return no_answer(what, error.error)
        except requests.RequestException as error:
            return no_answer(what, error)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return Unreachable(f"{what}: an answer that cannot be read ({type(error).__name__}: {error})")

    def _client(self) -> berserk.Client:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = berserk.TokenSession(self._token) if self._token else requests.Session()
            session.trust_env = False  # a .netrc would replace the token
            session.max_redirects = 0
            for scheme in ("http://", "https://"):
                session.mount(scheme, _TimeoutAdapter(self._timeout_s))
            self._local.session = session
            self._sessions.append(session)
        session.headers["User-Agent"] = self._user_agent()
        return berserk.Client(session, base_url=self._url)

    def close(self) -> None:
        """Give back every connection; calls under way end by themselves within the timeouts."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for session in self._sessions:
            session.close()
