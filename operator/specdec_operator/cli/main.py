"""The `specdec` command, also installed as `kubectl-specdec`.

Modules that are slow to load are imported by the command that needs them, so that the others start at once.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from specdec_operator.__about__ import __version__
from specdec_operator.api.names import DEPLOYMENT_KIND

if TYPE_CHECKING:
    from specdec_operator.api.objects import SpecDecDeployment
    from specdec_operator.cli.checking import Checked
    from specdec_operator.engine.render import RenderedMethod

INVALID: Final = 1
UNUSABLE: Final = 2

app = typer.Typer(
    name="specdec",
    help="Check, render and watch SpecDecDeployments.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class ReportFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"


class RenderFormat(StrEnum):
    """What is rendered, and how."""

    YAML = "yaml"
    JSON = "json"
    ARGS = "args"


Files = Annotated[
    list[str],
    typer.Option("--file", "-f", help="A file, a directory, or - for standard input. May be given several times."),
]


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@app.command()
def validate(
    file: Files,
    output: Annotated[ReportFormat, typer.Option("--output", "-o", help="How to print.")] = ReportFormat.TEXT,
) -> None:
    """Check objects without a cluster. Exit code 0: all valid, 1: some invalid, 2: input that cannot be read."""
    from specdec_operator.cli import reports  # noqa: PLC0415 - start-up time

    results = _check(file)
    typer.echo(reports.as_json(results) if output is ReportFormat.JSON else reports.as_text(results))
    if not all(result.valid for result in results):
        raise typer.Exit(INVALID)


@app.command()
def render(
    file: Files,
    method: Annotated[
        str | None, typer.Option(help='Name of a method, or "none". Default: the first one supported.')
    ] = None,
    output: Annotated[
        RenderFormat, typer.Option("--output", "-o", help="Objects as yaml or json, or the engine's args, one a line.")
    ] = RenderFormat.YAML,
) -> None:
    """Print what the operator would apply. Exit codes as of validate."""
    from specdec_operator.cli import rendering  # noqa: PLC0415 - start-up time

    deployments = _renderable(file)
    chosen = [(deployment, _choose(deployment, method)) for deployment in deployments]
    if output is RenderFormat.ARGS:
        for deployment, rendered in chosen:
            typer.echo("\n".join(rendering.arguments(deployment, rendered)))
        return
    items = [item for deployment, rendered in chosen for item in rendering.objects(deployment, rendered)]
    typer.echo(rendering.as_json(items) if output is RenderFormat.JSON else rendering.as_yaml(items))


def _renderable(files: list[str]) -> "list[SpecDecDeployment]":
    from specdec_operator.cli import reports  # noqa: PLC0415 - start-up time
    from specdec_operator.engine.check import blocks_rendering  # noqa: PLC0415

    results = [result for result in _check(files) if result.document.kind == DEPLOYMENT_KIND]
    refused = [result for result in results if result.deployment is None or blocks_rendering(result.findings)]
    if refused:
        typer.echo(reports.as_text(refused), err=True)
        raise typer.Exit(INVALID)
    return [result.deployment for result in results if result.deployment is not None]


def _choose(deployment: "SpecDecDeployment", method: str | None) -> "RenderedMethod":
    from specdec_operator.cli import rendering, reports  # noqa: PLC0415 - start-up time
    from specdec_operator.cli.documents import UnusableInputError  # noqa: PLC0415
    from specdec_operator.engine.findings import Finding  # noqa: PLC0415

    try:
        rendered = rendering.choose_method(deployment, method)
    except UnusableInputError as error:
        _give_up(error)
    if isinstance(rendered, Finding):
        typer.echo(f"specdec: {reports.line(rendered)}", err=True)
        raise typer.Exit(INVALID)
    return rendered


def _check(files: list[str]) -> "list[Checked]":
    from specdec_operator.cli.checking import check_document, is_ours  # noqa: PLC0415 - start-up time
    from specdec_operator.cli.documents import UnusableInputError, read_documents  # noqa: PLC0415

    try:
        documents = list(read_documents(files))
    except UnusableInputError as error:
        _give_up(error)
    ours = [document for document in documents if is_ours(document)]
    if not ours:
        typer.echo("specdec: no SpecDecDeployment or SpecDecProfile in the input", err=True)
    return [check_document(document) for document in ours]


def _give_up(error: Exception) -> NoReturn:
    typer.echo(f"specdec: {error}", err=True)
    raise typer.Exit(UNUSABLE)


def run() -> None:
    """Entry point of both commands."""
    app()
