"""Everything but completions: health, models, metrics and the simulator's own pages."""

import asyncio
import json
import os
import re

from prometheus_client import generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from vllm_simulator.cluster import Cluster
from vllm_simulator.faults import START_ONLY, FaultError, Faults, MetricsFault, as_json, change
from vllm_simulator.http.body import tokens_of
from vllm_simulator.http.errors import ApiError

_VALUE = re.compile(rb"^(vllm:[^\n]*\}) \S+$", re.MULTILINE)


def _cluster(request: Request) -> Cluster:
    cluster: Cluster = request.app.state.cluster
    return cluster


async def health(request: Request) -> Response:
    """`/health` and `/ping`: 200 while the engine lives, also when it drains."""
    return Response(status_code=503 if _cluster(request).faults.unhealthy else 200)


async def version(request: Request) -> Response:
    """`/version`: the simulated release."""
    return JSONResponse({"version": str(_cluster(request).launch.release)})


async def load(request: Request) -> Response:
    """`/load`: requests in the server."""
    return JSONResponse({"server_load": _cluster(request).load})


async def models(request: Request) -> Response:
    """`/v1/models`: one entry for each served name."""
    launch, created = _cluster(request).launch, request.app.state.created
    data = [
        {
            "id": name,
            "object": "model",
            "created": created,
            "owned_by": "vllm",
            "root": launch.model,
            "parent": None,
            "max_model_len": launch.max_model_len,
            "permission": [_permission(created)],
        }
        for name in launch.served_names
    ]
    return JSONResponse({"object": "list", "data": data})


def _permission(created: int) -> dict[str, object]:
    allowed = ("allow_sampling", "allow_logprobs", "allow_view")
    denied = ("allow_create_engine", "allow_search_indices", "allow_fine_tuning", "is_blocking")
    return {
        "id": "modelperm-simulator",
        "object": "model_permission",
        "created": created,
        **dict.fromkeys(allowed, True),
        **dict.fromkeys(denied, False),
        "organization": "*",
        "group": None,
    }


async def tokenize(request: Request) -> Response:
    """`/tokenize`: the simulator's idea of how many tokens a prompt has."""
    try:
        body = await request.json()
    except ValueError as error:
        raise ApiError(400, f"JSON decode error: {error}") from error
    count = tokens_of(str(body.get("prompt", "")) if isinstance(body, dict) else "")
    limit = _cluster(request).launch.max_model_len
    return JSONResponse({"count": count, "max_model_len": limit, "tokens": list(range(count)), "token_strs": None})


async def metrics(request: Request) -> Response:
    """`/metrics` in the text format 0.0.4, whatever the scraper accepts, as vLLM does."""
    cluster = _cluster(request)
    fault = cluster.faults.metrics
    if fault is MetricsFault.HANGING:
        await asyncio.Event().wait()
    if fault is MetricsFault.ERROR:
        return Response("Internal Server Error", status_code=500, media_type="text/plain")
    text = b"" if fault is MetricsFault.EMPTY else generate_latest(cluster.metrics.registry)
    if fault is MetricsFault.NAN:
        text = _VALUE.sub(rb"\1 NaN", text)
    return Response(text, headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"})


async def state(request: Request) -> Response:
    """`/simulator/state`."""
    return JSONResponse(_cluster(request).state())


async def faults(request: Request) -> Response:
    """`/simulator/faults`: GET reads, POST changes what it names, DELETE heals all."""
    cluster = _cluster(request)
    if request.method == "DELETE":
        cluster.faults = Faults()
    if request.method == "POST":
        try:
            cluster.faults = _changed(cluster.faults, json.loads(await request.body()))
        except ValueError as error:
            raise ApiError(400, str(error)) from error
    if cluster.faults.crash:
        os._exit(1)
    return JSONResponse(as_json(cluster.faults))


def _changed(faults: Faults, values: object) -> Faults:
    late = sorted(START_ONLY & set(values)) if isinstance(values, dict) else []
    if late:
        raise FaultError(f"fault {late[0]!r} is about the start, which is over; set it in SIMULATOR_FAULTS")
    return change(faults, values)
