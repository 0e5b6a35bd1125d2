"""Runs inside a real vLLM's environment: reads command lines as JSON lists, one a line, and says what vLLM makes of it.

Each answer is an object of the parsed arguments, or {"refused": the parser's last line}.
"""

import contextlib
import io
import json
import sys

from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser


def main() -> None:
    """Answer every line of standard input."""
    parser = FlexibleArgumentParser(prog="vllm")
    make_arg_parser(parser.add_subparsers(dest="subparser").add_parser("serve"))
    for line in sys.stdin:
        errors = io.StringIO()
        try:
            with contextlib.redirect_stderr(errors):
                parsed = vars(parser.parse_args(["serve", *json.loads(line)]))
            print("ANSWER " + json.dumps(parsed, default=str), flush=True)
        except SystemExit:
            print("ANSWER " + json.dumps({"refused": errors.getvalue().strip().splitlines()[-1]}), flush=True)


main()
