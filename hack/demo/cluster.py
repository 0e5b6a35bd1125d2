"""The commands a user would type: helm and kubectl."""

import asyncio
import json
import os
from typing import Any

from hack.demo.scenario import NAMESPACE, ROOT

SYSTEM_NAMESPACE = "specdec-system"


class CommandError(Exception):
    """A command failed; the message has its last words."""


async def run(*command: str, given: str | None = None) -> str:
    """Run a command and return what it printed.

    Raises:
        CommandError: on any exit code but 0.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate(given.encode() if given else None)
    if process.returncode:
        raise CommandError(f"{' '.join(command[:4])} ... failed: {errors.decode()[-2000:].strip()}")
    return out.decode()


async def install_operator(values: dict[str, Any]) -> None:
    """Install the chart and wait until the operator is ready."""
    helm = os.environ.get("SPECDEC_HELM", "helm")
    chart = str(ROOT / "charts" / "specdec-operator")
    place = ("--namespace", SYSTEM_NAMESPACE, "--create-namespace", "--wait", "--timeout", "3m")
    await run(helm, "upgrade", "--install", "specdec-operator", chart, *place, "-f", "-", given=json.dumps(values))


async def apply(*bodies: dict[str, Any]) -> None:
    """Apply objects as `kubectl apply -f` does."""
    await run("kubectl", "apply", "-f", "-", given="\n---\n".join(json.dumps(body) for body in bodies))


async def service_url(name: str) -> str:
    """Return the URL of a deployment's Service by its cluster address."""
    text = await run("kubectl", "get", "service", name, "-n", NAMESPACE, "-o", "json")
    spec = json.loads(text)["spec"]
    return f"http://{spec['clusterIP']}:{spec['ports'][0]['port']}"


async def columns() -> str:
    """Return what `kubectl get sdd` prints."""
    return await run("kubectl", "get", "sdd", "-n", NAMESPACE)


async def pods(name: str) -> dict[str, tuple[str, str, str]]:
    """Return uid, node and address of a deployment's pods by name."""
    text = await run("kubectl", "get", "pods", "-n", NAMESPACE, "-l", f"specdec.dev/deployment={name}", "-o", "json")
    return {
        pod["metadata"]["name"]: (
            pod["metadata"]["uid"],
            pod["spec"].get("nodeName", ""),
            pod["status"].get("podIP", ""),
        )
        for pod in json.loads(text)["items"]
    }
