"""The `malmoi` command. Each command is one file: it parses, makes one library call, prints."""

import atexit
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter

from malmoi import __version__
from malmoi.errors import MalmoiError, MalmoiWarning

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

MOMENT = 0.05  # seconds
DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

# Command, where it lives (imported only when it is called), and what --help says of it.
COMMANDS = (
    ("neighbours", "neighbours:neighbours_command", "The nearest words to some words."),
    ("analogy", "analogy:analogy_command", 'Words that "king - man + woman" comes closest to.'),
    ("similarity", "similarity:similarity_command", "How similar two words are."),
    ("odd-one-out", "odd_one_out:odd_one_out_command", "The word that does not fit the others."),
    ("embed", "embed:embed_command", "The vectors of texts, or of their words or pieces."),
    ("index", "index:index_command", "Texts to search; again, only what changed is embedded."),
    ("search", "search:search_command", "The texts of an index that answer a query best."),
    ("context", "context:context_command", "A word in context: its occurrences, compared."),
    ("evaluate", "evaluate.app:evaluate_command", "How good vectors are: words and sentences."),
    ("sweep", "evaluate.sweep:sweep_command", "Which layer and pooling of an encoder is best."),
    ("convert", "convert:convert_command", "One file format to another."),
    ("inspect", "inspect:inspect_command", "What is in a file, and what is wrong with it."),
    ("tokenize", "tokenize:tokenize_command", "How a text is cut into tokens."),
    ("vocab", "vocab:vocab_command", "The words of a corpus and their counts."),
    ("cooccur", "cooccur:cooccur_command", "How often words stand together, and ratios."),
    ("train", "train.app:train_app", "Train a model: word2vec, fasttext, glove …"),
    ("generate", "generate:generate_command", "Text from a language model."),
    ("project", "project:project_command", "A page to look at vectors, texts, or senses."),
    ("serve", "serve:serve_command", "Models over HTTP: OpenAI's way, bert-as-service's, ours."),
    ("demo", "demo:demo_command", "Try everything on 400,000 real vectors."),
)


def make_app() -> App:
    """The command line with all its commands."""
    app = App(
        name="malmoi",
        help="Text to vectors you can use, in English and Korean.\n\n"
        "What a command takes: malmoi COMMAND --help.",
        default_parameter=Parameter(show_default=_shown_default),
        version=__version__,
        suppress_keyboard_interrupt=False,
    )
    for name, place, text in COMMANDS:
        app.command(f"malmoi.cli.{place}", name=name, help=text)
    return app


def run(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_note
            warnings.simplefilter("always", MalmoiWarning)
            make_app()(words, exit_on_error=False, print_error=False, result_action="return_none")
            sys.stdout.flush()  # what cannot be written is told here, not when Python ends
    except CycloptsError as error:
        print(f"malmoi: {_one_sentence(error)}", file=sys.stderr)
        return WRONG_USAGE
    except MalmoiError as error:
        print(f"malmoi: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _discard_output()
        return DONE
    except OSError as error:  # files say themselves what is wrong with them: this is stdout
        _discard_output()
        print(f"malmoi: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("malmoi: interrupted", file=sys.stderr)
        return INTERRUPTED
    return DONE


def main() -> None:
    """The entry point of the command; being told to stop is like Ctrl-C, and cleans up.

    What nohup has ignored stays so.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    sys.unraisablehook = _hear_again
    code = run()
    if code == INTERRUPTED:  # a thread may be half started: nobody waits for any
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _discard_output() -> None:
    """What is still in stdout's buffer goes nowhere, without another error when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _hear_again(lost: "UnraisableHookArgs") -> None:
    """Being told to stop is lost inside what a compiler calls back: it comes again a bit later."""
    if issubclass(lost.exc_type, KeyboardInterrupt) and hasattr(signal, "pthread_kill"):
        again = threading.main_thread().ident, signal.SIGTERM
        threading.Timer(MOMENT, signal.pthread_kill, again).start()
    else:
        sys.__unraisablehook__(lost)


def _show_note(message: Warning | str, *_: object, **__: object) -> None:
    wipe = "\r\x1b[K" if sys.stderr.isatty() else ""  # a bar may stand there
    print(f"{wipe}note: {message}", file=sys.stderr)


def _one_sentence(error: CycloptsError) -> str:
    """What is wrong with a command, and whose help says more."""
    said = " ".join(str(error).split())
    if isinstance(error, MissingArgumentError) and error.argument and not error.tokens_so_far:
        given = error.keyword  # the option, without its value
        said = f"{given} needs a value" if given else f"{error.argument.name} is missing"
    elif said.endswith("..."):  # of too many commands to list
        said, _, _ = said.partition(" Available commands")
    command = " ".join(["malmoi", *(error.command_chain or ())])
    return f"{said.rstrip('.')} (see {command} --help)"


def _shown_default(default: object) -> str | None:
    """What --help says of it; nothing where nothing is given, asked for or switched on."""
    return None if default is None or default is False or default in ((), "") else str(default)
