"""`python -m hack.load --url http://127.0.0.1:8000 --phases 30:1,60:32,30:1`."""

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from hack.load.plan import Connections, Load, PlanError, read_phases
from hack.load.records import Record, Summary
from hack.load.runner import run_load


def main() -> int:
    """Run the load; exit code 1 when a request failed or was cut, 2 when the description is wrong."""
    options = _parser().parse_args()
    try:
        summary = asyncio.run(_run(_load(options), options.out))
    except PlanError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(asdict(summary)))
    return 0 if summary.clean else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hack.load", description="Streams of known length on an OpenAI-style server.")
    add = parser.add_argument
    add("--url", required=True, help="server, up to the port")
    add("--phases", required=True, help="SECONDS:CLIENTS,...; 60:1..32 is a ramp, 30:r2.5 is 2.5 requests a second")
    add("--model", default="", help="default: the first that the server names")
    add("--max-tokens", default="256", help="tokens of each request, or a range like 200..2400")
    add("--connections", choices=[mode.value for mode in Connections], default=Connections.PER_REQUEST.value)
    add("--chat", action="store_true", help="use /v1/chat/completions")
    add("--seed", type=int, default=0)
    add("--stall-timeout", type=float, default=60.0)
    add("--finish-timeout", type=float, default=120.0)
    add("--max-requests", type=int, default=100_000)
    add("--out", type=Path, help="file for one JSON object a request")
    return parser


def _load(options: argparse.Namespace) -> Load:
    return Load(
        url=options.url,
        phases=read_phases(options.phases),
        model=options.model,
        max_tokens=_range(options.max_tokens),
        chat=options.chat,
        connections=Connections(options.connections),
        seed=options.seed,
        stall_timeout=options.stall_timeout,
        finish_timeout=options.finish_timeout,
        max_requests=options.max_requests,
    )


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("..")
    if not first.isdecimal() or not (last or first).isdecimal() or int(last or first) < int(first) or first == "0":
        raise PlanError(f"--max-tokens {text!r} must be a number like 256 or a range like 200..2400")
    return int(first), int(last or first)


async def _run(load: Load, out: Path | None) -> Summary:
    if out is None:
        return await run_load(load)
    with out.open("w", encoding="utf-8") as file:
        return await run_load(load, sink=lambda record: _write(file, record))


def _write(file: TextIO, record: Record) -> None:
    file.write(json.dumps(asdict(record)) + "\n")
    file.flush()


if __name__ == "__main__":
    sys.exit(main())
