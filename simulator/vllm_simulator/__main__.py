"""`python -m vllm_simulator serve MODEL [flags]`, also as `vllm-simulator` and, in its image, as `vllm`."""

import os
import sys
import time

import uvloop

from vllm_simulator.launch import LaunchError, make_launch, parse_arguments
from vllm_simulator.schedule import ScheduleError
from vllm_simulator.serve import serve
from vllm_simulator.settings import SettingError, read_settings
from vllm_simulator.speculation import ConfigError

USAGE = "usage: vllm [-h] [-v] {serve} ...\n"


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = sys.argv[1:]
    try:
        settings = read_settings(os.environ)
    except SettingError as error:
        return _fail(f"{error}\n", 2)
    if arguments in (["-v"], ["--version"]):
        print(settings.release)
        return 0
    if arguments[:1] != ["serve"]:
        return _fail(f"{USAGE}vllm: error: the only command is serve\n", 0 if arguments in (["-h"], ["--help"]) else 2)
    options = parse_arguments(arguments[1:], settings.release)
    try:
        return uvloop.run(serve(make_launch(options, settings, os.environ)))
    except (ConfigError, ScheduleError, LaunchError) as error:
        time.sleep(settings.refuse_seconds / settings.time_scale)
        return _fail(_refusal(error), 1)


def _refusal(error: Exception) -> str:
    if isinstance(error, ConfigError):
        return f"pydantic_core._pydantic_core.ValidationError: {error.text()}\n"
    kind = "RuntimeError: Engine core initialization failed" if isinstance(error, ScheduleError) else "ValueError"
    return f"{kind}: {error}\n"


def _fail(text: str, code: int) -> int:
    sys.stderr.write(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
