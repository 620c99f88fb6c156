"""The commands joined to one program, and what becomes of errors."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from typing import Annotated, Any

import typer

from robustfourier.cli.app_command import app as open_app
from robustfourier.cli.compare_command import compare
from robustfourier.cli.console import Console, let_go, prepare_streams
from robustfourier.cli.fit_command import fit
from robustfourier.cli.fit_many_command import fit_many
from robustfourier.cli.help_groups import GroupedCommand
from robustfourier.cli.model_commands import info, predict
from robustfourier.cli.rhythm_command import rhythm
from robustfourier.cli.sampling_commands import check, inject
from robustfourier.concurrency import interruption_as_such
from robustfourier.errors import DataError, InputError, ModelFormatError, RobustFourierError

OK, FAILURE, USAGE, BAD_DATA, INTERRUPTED = 0, 1, 2, 3, 130

app = typer.Typer(
    name="robustfourier",
    help="Find the periods that are really there in noisy data, and the shape of each.",
    epilog="Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data or a bad model file, 130 interrupted.",
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from robustfourier import __version__

        print(f"robustfourier {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find the periods that are really there in noisy data, and the shape of each."""


_COMMANDS: dict[str, Callable[..., None]] = {
    "fit": fit,
    "fit-many": fit_many,
    "rhythm": rhythm,
    "predict": predict,
    "info": info,
    "compare": compare,
    "check": check,
    "inject": inject,
    "app": open_app,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=GroupedCommand)(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit with its code; no user's mistake ends in a traceback."""
    prepare_streams()
    sys.exit(_guarded(lambda: _run(sys.argv[1:] if arguments is None else list(arguments))))


def _run(arguments: list[str]) -> int:
    from typer.main import get_command

    command: Any = get_command(app)
    code = command.main(
        args=arguments or ["--help"], prog_name="robustfourier", standalone_mode=False
    )
    sys.stdout.flush()  # where a reader that has gone can still be told apart from a mistake
    if code == INTERRUPTED:  # which typer keeps to itself
        raise KeyboardInterrupt
    return code if isinstance(code, int) else OK


def _guarded(run: Callable[[], int]) -> int:
    console = Console()
    try:
        with interruption_as_such():
            return run()
    except typer.Exit as stop:
        return int(stop.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        console.error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        let_go(sys.stdout)  # so that Python does not try again at exit
        return FAILURE
    except RobustFourierError as error:
        console.error(str(error))
        bad = isinstance(error, (DataError, ModelFormatError))
        return BAD_DATA if bad else USAGE if isinstance(error, InputError) else FAILURE
    except MemoryError:
        console.error("not enough memory; thin out the data or close other programs")
        return FAILURE
    except BrokenExecutor:
        console.error(
            "a worker process was ended from outside, perhaps because memory ran out; run the "
            "command again, with fewer --jobs if it happens again"
        )
        return FAILURE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        console.error(f"{where}{error.strerror or error}")
        return FAILURE
    except Exception as error:
        return _unexpected(error, console)


def _unexpected(error: Exception, console: Console) -> int:
    """A usage error of typer (told by its face, which has moved between versions), or a bug."""
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        console.error(f"{error.format_message()}{hint}")
        return int(error.exit_code)
    if os.environ.get("ROBUSTFOURIER_DEBUG"):
        traceback.print_exception(error)
    first = str(error).splitlines()[0] if str(error) else ""
    console.error(
        f"internal error, please report it: {type(error).__name__}: {first} "
        "(set ROBUSTFOURIER_DEBUG=1 to see where)"
    )
    return FAILURE
