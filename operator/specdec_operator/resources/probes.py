"""The three probes and the preStop hook of an engine, and the constant scripts behind them.

The method travels in an annotation: the kubelet puts its value into the container's environment at start, and into
a file while it runs. When the two differ, the operator has set another method and the engine must start again.

- Liveness compares them every two seconds with nothing but `sh` and `cat`. Two differing answers in a row restart the
  container; one slow answer of a busy node does not.
- The same script asks `/health` about once a minute and fails after five refusals in a row: an engine whose server
  hangs is restarted after five minutes. It cannot be a probe of its own, because a container has only one liveness
  probe.
- Startup asks `/health`, and also succeeds when the values differ: only so does liveness, which waits for it, get to
  restart an engine that is still loading the method that is not wanted any more.
- Readiness asks `/health` over HTTP and nothing else.
- preStop waits until nobody sends new requests, unless the pod has left its Service already, as in every switch.

No text of a user is in any script. They use backticks and count in x's, because `$(...)` is Kubernetes' own syntax.
The image must have `sh`, `cat`, `sleep`, `grep` and `python3`, as vLLM's images do.
"""

from typing import Any, Final

from specdec_operator.api.names import CONFIG_ENVIRONMENT, SERVING_LABEL
from specdec_operator.engine.owned import INFO_DIRECTORY
from specdec_operator.engine.render import PORT
from specdec_operator.engine.timing import PRE_STOP_SECONDS, STARTUP_PERIOD_SECONDS, startup_failures

PORT_NAME: Final = "http"
CONFIG_FILE: Final = "speculative-config"
LABELS_FILE: Final = "labels"
COUNT_FILE: Final = "/dev/shm/specdec-liveness"  # noqa: S108 - memory of the pod alone, writable in every container
CHECKS_PER_HEALTH_CHECK: Final = 30
HEALTH_FAILURES: Final = 5

_SAME: Final = (
    f"now=`cat {INFO_DIRECTORY}/{CONFIG_FILE} 2>/dev/null && printf x` || now=${{{CONFIG_ENVIRONMENT}}}x\n"
    f'[ "$now" = "${{{CONFIG_ENVIRONMENT}}}x" ]'
)
_HEALTHY: Final = (
    'python3 -c "import http.client as h, sys\n'
    f"c = h.HTTPConnection('127.0.0.1', {PORT}, timeout=10)\n"
    "c.request('GET', '/health')\n"
    'sys.exit(c.getresponse().status != 200)" 2>/dev/null'
)

STARTUP_SCRIPT: Final = f"""{{ : > {COUNT_FILE}; }} 2>/dev/null
{_SAME} || exit 0
{_HEALTHY} || {{ echo "/health does not answer yet"; exit 1; }}
"""
LIVENESS_SCRIPT: Final = f"""{_SAME} || {{ echo "speculative config changed: restarting the engine"; exit 1; }}
checks= failures=
{{ IFS=: read -r checks failures; }} 2>/dev/null < {COUNT_FILE}
case $checks$failures in *[!x]*) checks= failures= ;; esac
checks=x$checks
if [ ${{#checks}} -ge {CHECKS_PER_HEALTH_CHECK} ]; then
  checks=
  if {_HEALTHY}; then failures=; else failures=x$failures; fi
fi
{{ echo "$checks:$failures" > {COUNT_FILE}; }} 2>/dev/null
[ ${{#failures}} -lt {HEALTH_FAILURES} ] || {{ echo "/health refused {HEALTH_FAILURES} times in a row"; exit 1; }}
"""
PRE_STOP_SCRIPT: Final = (
    f"grep -q '^{SERVING_LABEL}=' {INFO_DIRECTORY}/{LABELS_FILE} 2>/dev/null || exit 0\nexec sleep {PRE_STOP_SECONDS}\n"
)


def startup_probe(startup_timeout: str) -> dict[str, Any]:
    """Return the probe that gives the engine `startup_timeout` to load; the other two wait for it."""
    return {
        "exec": _shell(STARTUP_SCRIPT),
        "periodSeconds": STARTUP_PERIOD_SECONDS,
        "timeoutSeconds": 15,
        "failureThreshold": startup_failures(startup_timeout),
    }


def liveness_probe() -> dict[str, Any]:
    """Return the probe that restarts the engine when its method was changed, or when it hangs."""
    return {"exec": _shell(LIVENESS_SCRIPT), "periodSeconds": 2, "timeoutSeconds": 15, "failureThreshold": 2}


def readiness_probe() -> dict[str, Any]:
    """Return the probe that says whether the engine answers; ten seconds without an answer mean no."""
    return {
        "httpGet": {"path": "/health", "port": PORT_NAME},
        "periodSeconds": 2,
        "timeoutSeconds": 5,
        "failureThreshold": 5,
    }


def pre_stop() -> dict[str, Any]:
    """Return the hook that runs before SIGTERM."""
    return {"exec": _shell(PRE_STOP_SCRIPT)}


def _shell(script: str) -> dict[str, Any]:
    return {"command": ["sh", "-c", script]}
