"""One blocking round of queries through `prometheus_api_client`, bounded in time and size, with errors in words."""

import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final

import requests
import urllib3
from prometheus_api_client import PrometheusApiClientException, PrometheusConnect
from urllib3.util.retry import Retry

from specdec_operator.adapters.prometheus.configuration import PrometheusConfiguration
from specdec_operator.api.conditions import Reason

LONGEST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes: some hundred times what 2,000 pods give."""
LONGEST_EXCERPT: Final = 200
_CONNECT_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.2
_CHUNK: Final = 65_536
_MARKUP: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_LOGIN: Final = re.compile(r"\b(?:log|sign)[ -]?in\b|oauth|\bsso\b|type=.?password", re.IGNORECASE)
_UNAUTHORIZED: Final = frozenset({401, 403, 407})
_MOVED_FOR_GOOD: Final = frozenset({301, 308})


class QueryError(Exception):
    """Prometheus gave no usable answer; `reason` is one of the condition MetricsAvailable."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


Query = Callable[[str], list[dict[str, Any]]]
"""Runs one instant query and returns the rows of its vector."""


@contextmanager
def connection(configuration: PrometheusConfiguration) -> Iterator[Query]:
    """Open a connection for the queries of one tick.

    A new one each time: token and certificate authorities may have changed, and one that hangs is left behind.

    Raises:
        QueryError: when the token cannot be read; the query raises it for everything that goes wrong.
    """
    deadline = time.monotonic() + configuration.timeout_seconds
    session = _BoundedSession(deadline)
    session.verify = _trusted(configuration)
    headers = dict(configuration.headers)
    if configuration.token_file is not None:
        headers["Authorization"] = f"Bearer {_token(configuration)}"
    # Repeated here and not by urllib3, which would log the whole query each time.
    never = Retry(total=0)
    with PrometheusConnect(url=configuration.url, headers=headers, session=session, retry=never) as client:
        yield lambda query: _vector(_ask(client, query, session))


def _trusted(configuration: PrometheusConfiguration) -> bool | str:
    if configuration.insecure_skip_verify:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        return False
    if configuration.ca_file is None:
        return True
    if not configuration.ca_file.is_file():
        raise QueryError(Reason.SOURCE_UNREACHABLE, f"prometheus.caFile {configuration.ca_file} is no file.")
    return str(configuration.ca_file)


def _token(configuration: PrometheusConfiguration) -> str:
    path = configuration.token_file
    try:
        token = path.read_text(encoding="utf-8").strip() if path is not None else ""
    except (OSError, UnicodeDecodeError) as error:
        text = f"prometheus.tokenFile {path} cannot be read: {getattr(error, 'strerror', None) or error}."
        raise QueryError(Reason.UNAUTHORIZED, text) from error
    if not token or not token.isprintable():
        raise QueryError(Reason.UNAUTHORIZED, f"prometheus.tokenFile {path} holds no token.")
    return token


class _BoundedSession(requests.Session):
    """Follows no redirect, takes nothing from the environment, and stops reading at a deadline or a size."""

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self.trust_env = False
        self._deadline = deadline

    def seconds_left(self) -> float:
        return max(0.05, self._deadline - time.monotonic())

    def request(  # type: ignore[override]
        self,
        method: str,
        url: str,
        **options: Any,  # noqa: ANN401
    ) -> requests.Response:
        """Send a request as the client library asks for it; give back an answer that is already read."""
        left = self.seconds_left()
        options |= {"allow_redirects": False, "stream": True, "timeout": (min(_CONNECT_SECONDS, left), left)}
        with super().request(method, url, **options) as answer:
            _refuse(answer, self._body)
            read = requests.Response()
            read.status_code = answer.status_code
            read.headers = answer.headers
            read.encoding = "utf-8"
            read.raw = BytesIO(self._body(answer, LONGEST_ANSWER))
            return read

    def _body(self, answer: requests.Response, limit: int) -> bytes:
        """Read piece by piece: a server that sends a byte now and then must not outlast the deadline."""
        body = bytearray()
        while piece := answer.raw.read1(_CHUNK, decode_content=True):
            body += piece
            if len(body) > limit:
                raise QueryError(Reason.SOURCE_UNREACHABLE, f"Prometheus' answer is longer than {limit} bytes.")
            if time.monotonic() > self._deadline:
                raise requests.exceptions.ReadTimeout
        return bytes(body)


def _refuse(answer: requests.Response, read: Callable[[requests.Response, int], bytes]) -> None:
    """Raise for everything but 200: with the status, what it means here, and the beginning of the text."""
    status = answer.status_code
    if status == requests.codes.ok:
        return
    if answer.is_redirect:
        target = answer.headers.get("Location", "")
        moved = status in _MOVED_FOR_GOOD and not _LOGIN.search(target)
        text = f"Prometheus redirects to {excerpt(target)}"
        if moved:
            raise QueryError(Reason.SOURCE_UNREACHABLE, f"{text}; give that address in prometheus.url.")
        raise QueryError(Reason.UNAUTHORIZED, f"{text}: it asks for a login; give prometheus.tokenFile.")
    said = _error_text(read(answer, LONGEST_ANSWER))
    if status in _UNAUTHORIZED:
        raise QueryError(Reason.UNAUTHORIZED, f"Prometheus refuses us with {status}: {said}.")
    hint = "; is prometheus.url right" if status == requests.codes.not_found else ""
    raise QueryError(Reason.SOURCE_UNREACHABLE, f"Prometheus answers {status}: {said}{hint}.")


def _error_text(body: bytes) -> str:
    """Prometheus explains itself in JSON, proxies in HTML."""
    text = body.decode("utf-8", errors="replace")
    try:
        parsed = json.loads(text)
    except ValueError:
        return excerpt(text)
    said = parsed.get("error") if isinstance(parsed, dict) else None
    return excerpt(said if isinstance(said, str) else text)


def excerpt(text: str) -> str:
    """Return the beginning of a foreign text on one line, without markup."""
    plain = " ".join(_MARKUP.sub(" ", text).split()).rstrip(".")
    shown = plain if len(plain) <= LONGEST_EXCERPT else plain[: LONGEST_EXCERPT - 1] + "…"
    return shown or "no text"


def _ask(client: PrometheusConnect, query: str, session: _BoundedSession) -> object:
    """Run a query; once more when the connection was refused or broke, so that a blip is no missing measurement."""
    try:
        return _ask_once(client, query, session)
    except requests.Timeout as error:
        raise _unreachable(error) from error
    except requests.ConnectionError:
        time.sleep(_PAUSE_SECONDS)
    try:
        return _ask_once(client, query, session)
    except requests.ConnectionError as error:
        raise _unreachable(error) from error


def _ask_once(client: PrometheusConnect, query: str, session: _BoundedSession) -> object:
    """Run a query; a broken connection goes to the caller, everything else that fails is a QueryError."""
    try:
        return client.custom_query(query, params={"timeout": f"{round(1000 * session.seconds_left())}ms"})
    except requests.ConnectionError:
        raise
    except requests.exceptions.InvalidJSONError as error:
        raise _no_json(error) from error
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise _unreachable(error) from error
    except (PrometheusApiClientException, KeyError, TypeError) as error:
        text = f"Prometheus' answer has an unknown form: {excerpt(str(error))}."
        raise QueryError(Reason.SOURCE_UNREACHABLE, text) from error


def _vector(rows: object) -> list[dict[str, Any]]:
    """The client library drops the type of the result; its shape tells it."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "value" in row for row in rows):
        raise QueryError(Reason.SOURCE_UNREACHABLE, "Prometheus answered with something else than a vector.")
    return rows


def _unreachable(error: Exception) -> QueryError:
    return QueryError(Reason.SOURCE_UNREACHABLE, f"Prometheus cannot be reached: {_cause(error)}.")


def _no_json(error: requests.exceptions.InvalidJSONError) -> QueryError:
    page = str(getattr(error, "doc", ""))
    said = excerpt(page)
    if _LOGIN.search(page):
        return QueryError(Reason.UNAUTHORIZED, f"A login page answers in place of Prometheus: {said}.")
    return QueryError(Reason.SOURCE_UNREACHABLE, f"prometheus.url answers with something else than JSON: {said}.")


def _cause(error: BaseException) -> str:
    """Return the innermost cause in few words; the library's own text repeats the whole query."""
    for inner in _chain(error):
        if isinstance(inner, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({inner.verify_message}); see prometheus.caFile"
        if isinstance(inner, socket.gaierror):
            return f"its name does not resolve ({inner.strerror})"
        if isinstance(inner, OSError) and inner.strerror and not isinstance(inner, requests.RequestException):
            return inner.strerror
        if isinstance(inner, (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)):
            return "no answer in time"
    return excerpt(type(error).__name__)


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and what it wraps, innermost first."""
    found: list[BaseException] = []
    queue: list[BaseException] = [error]
    while queue:
        current = queue.pop()
        if current in found:
            continue
        found.append(current)
        wrapped = (current.__cause__, current.__context__, getattr(current, "reason", None), *current.args)
        queue += [inner for inner in wrapped if isinstance(inner, BaseException)]
    return found[::-1]
