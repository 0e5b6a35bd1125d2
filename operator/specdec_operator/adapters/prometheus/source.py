"""The metrics source that the controller asks once a tick."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from specdec_operator.adapters.prometheus.answers import Answers
from specdec_operator.adapters.prometheus.configuration import PrometheusConfiguration
from specdec_operator.adapters.prometheus.intervals import rate_window
from specdec_operator.adapters.prometheus.queries import Queries
from specdec_operator.adapters.prometheus.transport import QueryError, connection, excerpt
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.signals import Reading, Unavailable

COOL_DOWN_SECONDS: Final = 5.0
"""A third of a tick: it spares a server that is down without delaying the return of the metrics."""
_GRACE_SECONDS: Final = 1.0
"""On top of the configured deadline, for the thread to notice it itself."""


class PrometheusSource:
    """Reads all engines with six instant queries.

    The queries run in a daemon thread of their own, at most one at a time: a server that hangs costs one thread,
    holds up neither the event loop nor the end of the process, and is not asked again before that thread has ended.

    Args:
        configuration: the section `prometheus` of the operator's configuration.
        cool_down: seconds for which a failure is the answer to everybody, without another try.
    """

    def __init__(self, configuration: PrometheusConfiguration, *, cool_down: float = COOL_DOWN_SECONDS) -> None:
        self._configuration = configuration
        self._cool_down = cool_down
        self._turn = asyncio.Lock()
        self._asking = False
        self._failure: Unavailable | None = None
        self._failed_at = 0.0

    async def read(self, namespaces: frozenset[str]) -> Reading | Unavailable:
        """Read all engines of these namespaces, of all when there are none. Never raises, never hangs."""
        async with self._turn:
            if self._failure is not None and time.monotonic() - self._failed_at < self._cool_down:
                return self._failure
            result = await self._read(namespaces)
            self._failure = result if isinstance(result, Unavailable) else None
            self._failed_at = time.monotonic()
            return result

    async def _read(self, namespaces: frozenset[str]) -> Reading | Unavailable:
        if self._asking:
            return Unavailable(Reason.SOURCE_UNREACHABLE, "Prometheus cannot be reached: the last query still hangs.")
        seconds = self._configuration.timeout_seconds + _GRACE_SECONDS
        try:
            async with asyncio.timeout(seconds):
                return await self._in_thread(lambda: read_once(self._configuration, namespaces))
        except TimeoutError:
            return Unavailable(Reason.SOURCE_UNREACHABLE, "Prometheus cannot be reached: no answer in time.")

    async def _in_thread(self, job: Callable[[], Reading | Unavailable]) -> Reading | Unavailable:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reading | Unavailable] = loop.create_future()

        def settle(result: Reading | Unavailable) -> None:
            if not answer.done():
                answer.set_result(result)

        def work() -> None:
            try:
                result = job()
            finally:
                self._asking = False
            with suppress(RuntimeError):  # the loop has ended; nobody waits any more
                loop.call_soon_threadsafe(settle, result)

        self._asking = True
        threading.Thread(target=work, name="prometheus", daemon=True).start()
        return await answer


def read_once(configuration: PrometheusConfiguration, namespaces: frozenset[str]) -> Reading | Unavailable:
    """Read all engines with blocking calls: what is there now first, then the rates over a window that fits it."""
    questions = Queries(configuration.labels, configuration.extra_matchers, namespaces)
    try:
        with connection(configuration) as query:
            gauges, times, counts = (
                query(text) for text in (questions.gauges(), questions.sample_times(), questions.sample_counts())
            )
            answers = Answers(configuration.labels, namespaces, time.time())
            answers.live(gauges, times)
            answers.counts(counts)
            window = int(configuration.window_seconds or rate_window(answers.intervals()))
            answers.rates(query(questions.token_rates(window)))
            answers.rates(query(questions.draft_rates(window)))
            answers.positions(query(questions.position_rates(window)))
            return answers.reading(float(window))
    except QueryError as failure:
        return Unavailable(failure.reason, str(failure))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        text = f"Prometheus' answer has an unknown form: {excerpt(str(error))}."
        return Unavailable(Reason.SOURCE_UNREACHABLE, text)
