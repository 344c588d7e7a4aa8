"""`malmoi serve --model NAME=PATH …`: models over HTTP."""

import signal
import sys
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.serve.limits import Limits
from malmoi.serve.server import PreparedServer, ServerSettings, prepare, run
from malmoi.serve.service.loaded_models import parse_places

Flag = Parameter(negative="", show_default=False)
DEFAULT = Limits()


def serve_command(
    *,
    model: Annotated[
        tuple[str, ...],
        Parameter(
            help="NAME=PATH: vectors, an encoder, or an index; the first is the default.",
            negative="",
        ),
    ],
    host: Annotated[str, Parameter(help="0.0.0.0 answers other machines too.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="0 takes any that is free.")] = 8080,
    api_key_file: Annotated[
        Path | None, Parameter(help="A key a line: who sends none of them is refused.")
    ] = None,
    allow_host: Annotated[
        tuple[str, ...],
        Parameter(help="A name of this server besides localhost.", negative="", show_default=False),
    ] = (),
    allow_origin: Annotated[
        tuple[str, ...],
        Parameter(help="A web page that may ask (CORS).", negative="", show_default=False),
    ] = (),
    refuse_long: Annotated[
        bool, Flag, Parameter(help="/v1/embeddings refuses texts that it would cut off.")
    ] = False,
    allow_token_ids: Annotated[
        bool, Flag, Parameter(help="/v1/embeddings takes ids of the served model's tokens.")
    ] = False,
    max_waiting: Annotated[
        int, Parameter(help="Pieces that may wait; above it, 503.")
    ] = DEFAULT.waiting,
    max_texts: Annotated[int, Parameter(help="Texts in a request.")] = DEFAULT.texts,
    quiet: Annotated[bool, Flag, Parameter(help="Write no log.")] = False,
    json: AsJson = False,
) -> None:
    """Answer requests until Ctrl-C; what was accepted is finished first."""
    settings = ServerSettings(
        host=host,
        port=port,
        api_key_file=api_key_file,
        allow_host=allow_host,
        allow_origin=allow_origin,
        truncate=not refuse_long,
        allow_token_ids=allow_token_ids,
        quiet=quiet,
        limits=Limits(waiting=max_waiting, texts=max_texts),
    )
    prepared = prepare(parse_places(model), settings)
    run(prepared, partial(announce, prepared, json))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is answered: nothing is left to stop


def announce(prepared: PreparedServer, json: bool) -> None:
    """Where it listens, and something to try."""
    if json:
        names = [model.name for model in prepared.models]
        print_json({"address": prepared.address, "models": names})
    else:
        print(f"malmoi serves {', '.join(m.name for m in prepared.models)} at {prepared.address}")
        print(f"try: {example(prepared)}")
    sys.stdout.flush()  # for a program that reads it


def example(prepared: PreparedServer) -> str:
    """A line for a shell."""
    first, key = next(iter(prepared.models)), ""
    if prepared.settings.api_key_file is not None:
        key = ' -H "Authorization: Bearer KEY"'
    if first.vectors is not None:
        word = quote(first.vectors.keys[0])
        return f"curl{key} '{prepared.address}/neighbours?word={word}'"
    return f'curl{key} {prepared.address}/embed -d \'{{"texts": ["hello"]}}\''
