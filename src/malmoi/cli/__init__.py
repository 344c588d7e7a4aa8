"""The `malmoi` command. Each command is one file: parse, one library call, print."""

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
from malmoi.cli.translation.language import KOREAN, language, translate
from malmoi.errors import MalmoiError, MalmoiWarning

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SIGNAL_AGAIN_AFTER = 0.05  # seconds
HELP_FLAGS = {"--help", "-h"}
DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130  # exit codes

# Name, module and function (imported only when the command runs), and the line in --help.
COMMANDS = (
    ("neighbours", "neighbours:neighbours_command", "Find the nearest words."),
    ("analogy", "analogy:analogy_command", 'Solve an analogy: "king - man + woman".'),
    ("similarity", "similarity:similarity_command", "Compare two words."),
    ("odd-one-out", "odd_one_out:odd_one_out_command", "Find the word that does not belong."),
    ("embed", "embed:embed_command", "Embed texts, or their words or tokens."),
    ("index", "index:index_command", "Build a search index, or update it incrementally."),
    ("reindex", "reindex:reindex_command", "Change the model of a search index."),
    ("search", "search:search_command", "Search an index."),
    ("context", "context:context_command", "Compare the occurrences of a word in context."),
    ("evaluate", "evaluate.app:evaluate_command", "Evaluate vectors and encoders on test sets."),
    ("sweep", "evaluate.sweep:sweep_command", "Find the best layer and pooling of an encoder."),
    ("convert", "convert:convert_command", "Convert vectors to another file format."),
    ("inspect", "inspect:inspect_command", "Describe a file and report its problems."),
    ("tokenize", "tokenize:tokenize_command", "Split texts into tokens."),
    ("vocab", "vocab:vocab_command", "Count the words of a corpus."),
    ("cooccur", "cooccur:cooccur_command", "Count how often words occur together."),
    ("train", "train.app:train_app", "Train a model: word2vec, fasttext, glove …"),
    ("tune", "tune.app:tune_app", "Tune an encoder or a classifier on your own data."),
    ("classify", "classify:classify_command", "Label texts with a classifier."),
    ("compare", "compare:compare_command", "Compare classifiers on your own labelled texts."),
    ("mine", "mine:mine_command", "Mine hard negatives for tuning."),
    ("generate", "generate:generate_command", "Generate text with a language model."),
    (
        "project",
        "project:project_command",
        "Make an interactive page of vectors or texts.",
    ),
    ("serve", "serve:serve_command", "Serve models over HTTP (OpenAI and bert-as-service APIs)."),
    ("demo", "demo.app:demo_app", "Try the main features on 400,000 word vectors."),
)


def make_app() -> App:
    """The command line with all its commands."""
    app = App(
        name="malmoi",
        help="Text to vectors you can use, in English and Korean.\n\n"
        "Run 'malmoi COMMAND --help' for the options of a command.",
        default_parameter=Parameter(show_default=_format_default),
        version=__version__,
        suppress_keyboard_interrupt=False,
    )
    for name, function, text in COMMANDS:
        app.command(f"malmoi.cli.{function}", name=name, help=text)
    if language() == KOREAN:
        from malmoi.cli.translation.help_formatter import TranslatedHelp  # imports rich's tables

        app.help_formatter = TranslatedHelp(translate)
    return app


def select_command(words: Sequence[str] | None = None) -> list[str]:
    """The words of a command, where `tune distill --static` has options of its own."""
    given = list(sys.argv[1:] if words is None else words)
    if given[:2] == ["tune", "distill"] and "--static" in given:
        return ["tune", "distill-static", *(word for word in given[2:] if word != "--static")]
    return given


def show_docstring(app: App, words: Sequence[str]) -> None:
    """Let the --help of a command show its docstring, not its line in the list of commands."""
    for word in words:
        if word not in app:
            return
        app = app[word]
        if app.default_command is not None:
            app.help = None


def run(words: Sequence[str] | None = None) -> int:
    """Run one command; `words` are its arguments, by default `sys.argv`; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            warnings.simplefilter("always", MalmoiWarning)
            given = select_command(words)
            app = make_app()
            if not HELP_FLAGS.isdisjoint(given):
                show_docstring(app, given)
            app(
                given,
                exit_on_error=False,
                print_error=False,
                result_action="return_none",
            )
            sys.stdout.flush()  # raises errors here, not when Python ends
    except CycloptsError as error:
        print(f"malmoi: {_describe(error)}", file=sys.stderr)
        return WRONG_USAGE
    except MalmoiError as error:
        print(f"malmoi: {translate(str(error))}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        _discard_output()
        return DONE
    except OSError as error:  # files raise InvalidFileError: this is stdout
        _discard_output()
        reason = translate(f"the output cannot be written: {error.strerror or error}")
        print(f"malmoi: {reason}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"malmoi: {translate('interrupted')}", file=sys.stderr)
        return INTERRUPTED
    return DONE


def main() -> None:
    """The entry point; SIGTERM and SIGHUP clean up like Ctrl-C, unless nohup ignores them."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    sys.unraisablehook = _interrupt_again
    code = run()
    if code == INTERRUPTED:  # does not wait for threads that may be starting
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _discard_output() -> None:
    """Send what is left in the buffer of stdout to /dev/null, so that Python exits cleanly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt_again(unraisable: "UnraisableHookArgs") -> None:
    """Repeat an interrupt that was lost inside a callback of compiled code, which cannot raise."""
    is_interrupt = issubclass(unraisable.exc_type, KeyboardInterrupt)
    if is_interrupt and hasattr(signal, "pthread_kill"):
        arguments = threading.main_thread().ident, signal.SIGTERM
        threading.Timer(SIGNAL_AGAIN_AFTER, signal.pthread_kill, arguments).start()
    else:
        sys.__unraisablehook__(unraisable)


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    clear_line = "\r\x1b[K" if sys.stderr.isatty() else ""  # of a progress bar
    print(f"{clear_line}{translate('note:')} {translate(str(message))}", file=sys.stderr)


def _describe(error: CycloptsError) -> str:
    """One sentence about a usage error, with the --help that explains more."""
    sentence = " ".join(str(error).split())
    if isinstance(error, MissingArgumentError) and error.argument and not error.tokens_so_far:
        option = error.keyword  # given without its value
        sentence = f"{option} needs a value" if option else f"{error.argument.name} is missing"
    elif sentence.endswith("..."):  # too many commands to list
        sentence, _, _ = sentence.partition(" Available commands")
    command = " ".join(["malmoi", *(error.command_chain or ())])
    return f"{translate(sentence.rstrip('.'))} {translate(f'(see {command} --help)')}"


def _format_default(default: object) -> str | None:
    """A default in --help; None hides empty defaults and switches that are off."""
    return None if default is None or default is False or default in ((), "") else str(default)
