"""What 64 concurrent streams cost in CPU: the simulator, and the load generator. A report; nothing is asserted.

Run as `python -m tests.bench.simulator_load`.
"""

import asyncio
import json
import os
import resource
from dataclasses import dataclass
from pathlib import Path

from hack.load import Load, Summary, run_load
from hack.load.plan import steady
from tests.helpers.simulator import Simulator, running_simulator

CLIENTS = 64
SECONDS = 20
NGRAM = json.dumps({"method": "ngram", "num_speculative_tokens": 4})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the report; CPU is in cores."""

    name: str
    simulator: float
    generator: float
    tokens_per_second: float
    expected: float
    """Tokens per second per request by the formula."""
    measured: float


def main() -> None:
    """Measure both modes and print a table."""
    rows = [
        measure("plain decoding", "null", expected=1 / (0.015 + 0.00025 * (CLIENTS - 32))),
        measure("speculation, K = 4", NGRAM, expected=2.4 / (0.015 * 1.48 + 0.00025 * (CLIENTS * 5 - 32))),
    ]
    print(f"{CLIENTS} streams for {SECONDS} s; load average before: {os.getloadavg()[0]:.1f}\n")
    print("| engine | simulator, cores | load generator, cores | tokens/s | per request: expected | measured |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.name} | {row.simulator:.2f} | {row.generator:.2f} | {row.tokens_per_second:.0f} | "
            f"{row.expected:.1f} | {row.measured:.1f} |"
        )


def measure(name: str, config: str, *, expected: float) -> Row:
    """Run the streams against one engine."""
    with running_simulator("--speculative-config", config) as simulator:
        before, own = cpu_seconds(simulator), own_cpu_seconds()
        summary = asyncio.run(streams(simulator))
        used, own = cpu_seconds(simulator) - before, own_cpu_seconds() - own
    steadily = [speed for speed in summary.speeds[2:SECONDS] if speed]
    return Row(
        name=name,
        simulator=used / summary.seconds,
        generator=own / summary.seconds,
        tokens_per_second=summary.tokens / summary.seconds,
        expected=expected,
        measured=sum(steadily) / max(len(steadily), 1),
    )


async def streams(simulator: Simulator) -> Summary:
    """As many streams as there are clients, all the time, stopped at the end."""
    load = Load(
        url=simulator.url, phases=[steady(SECONDS, CLIENTS)], model="tiny", max_tokens=(4000, 4000), finish_timeout=0
    )
    return await run_load(load)


def cpu_seconds(simulator: Simulator) -> float:
    """User and system time of the simulator's process."""
    fields = Path(f"/proc/{simulator.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_cpu_seconds() -> float:
    """User and system time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
