"""`malmoi serve --model NAME=PATH …`: serve models over HTTP, or as tools (--mcp)."""

import signal
import sys
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Flag, print_json
from malmoi.cli.translation.language import translate
from malmoi.errors import InvalidArgumentError
from malmoi.serve.limits import Limits
from malmoi.serve.server import PreparedServer, ServerSettings, prepare, run, serve_tools
from malmoi.serve.service.loaded_models import parse_model_paths

DEFAULT_LIMITS = Limits()


def serve_command(
    *,
    model: Annotated[
        tuple[str, ...],
        Parameter(
            help="NAME=PATH of word vectors, an encoder, an index, a classifier or a reranker; the"
            " first is the default.",
            negative="",
        ),
    ],
    host: Annotated[
        str, Parameter(help="Address to listen on; 0.0.0.0 accepts other machines.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0 chooses a free one.")] = 8080,
    api_key_file: Annotated[
        Path | None, Parameter(help="File with one API key per line; requests must send one.")
    ] = None,
    allow_host: Annotated[
        tuple[str, ...],
        Parameter(help="Host name to accept besides localhost.", negative="", show_default=False),
    ] = (),
    allow_origin: Annotated[
        tuple[str, ...],
        Parameter(
            help="Origin whose web pages may send requests (CORS).",
            negative="",
            show_default=False,
        ),
    ] = (),
    refuse_long: Annotated[
        bool, Flag, Parameter(help="/v1/embeddings rejects long texts instead of truncating.")
    ] = False,
    allow_token_ids: Annotated[
        bool, Flag, Parameter(help="/v1/embeddings accepts token ids of the served model.")
    ] = False,
    max_waiting: Annotated[
        int, Parameter(help="Tokens that may wait in the queue; beyond it, 503.")
    ] = DEFAULT_LIMITS.max_waiting_tokens,
    max_texts: Annotated[int, Parameter(help="Texts per request.")] = DEFAULT_LIMITS.max_texts,
    mcp: Annotated[
        bool,
        Flag,
        Parameter(
            help="Serve tools by the Model Context Protocol over stdin and stdout, not HTTP."
        ),
    ] = False,
    traces: Annotated[
        bool, Flag, Parameter(help="Trace requests by OpenTelemetry, as OTEL_* variables say.")
    ] = False,
    quiet: Annotated[bool, Flag, Parameter(help="Write no log.")] = False,
    json: AsJson = False,
) -> None:
    """Answer requests until Ctrl-C; accepted requests are finished first."""
    paths = parse_model_paths(model)
    limits = Limits(max_waiting_tokens=max_waiting, max_texts=max_texts)
    if mcp:
        if api_key_file or allow_host or allow_origin or traces:
            raise InvalidArgumentError(
                "--mcp serves the program that starts it: keys, hosts, origins and traces are for"
                " HTTP"
            )
        serve_tools(paths, limits, quiet=quiet)
        return
    settings = ServerSettings(
        host=host,
        port=port,
        api_key_file=api_key_file,
        allow_host=allow_host,
        allow_origin=allow_origin,
        truncate=not refuse_long,
        allow_token_ids=allow_token_ids,
        quiet=quiet,
        traces=traces,
        limits=limits,
    )
    prepared = prepare(paths, settings)
    run(prepared, partial(print_address, prepared, json))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all requests are answered


def print_address(prepared: PreparedServer, json: bool) -> None:
    """Print the URL of the server and a command to try."""
    if json:
        names = [model.name for model in prepared.models]
        print_json({"address": prepared.address, "models": names})
    else:
        served = ", ".join(model.name for model in prepared.models)
        print(translate(f"malmoi serves {served} at {prepared.address}"))
        print(f"try: {example_command(prepared)}")
    sys.stdout.flush()  # for a program that reads it


def example_command(prepared: PreparedServer) -> str:
    """A curl command that the first model can answer."""
    first, key = next(iter(prepared.models)), ""
    if prepared.settings.api_key_file is not None:
        key = ' -H "Authorization: Bearer KEY"'
    if first.vectors is not None:
        word = quote(first.vectors.keys[0])
        return f"curl{key} '{prepared.address}/neighbours?word={word}'"
    if first.classifier is not None:
        return f'curl{key} {prepared.address}/classify -d \'{{"input": ["hello"]}}\''
    if first.reranker is not None:
        query = '{"query": "hello", "texts": ["good day", "good night"]}'
        return f"curl{key} {prepared.address}/rerank -d '{query}'"
    return f'curl{key} {prepared.address}/embed -d \'{{"texts": ["hello"]}}\''
