"""Serves the tools over standard input and output, until the client closes it or Ctrl-C.

The only file that imports the SDK of the Model Context Protocol.
"""

import asyncio
import signal
import sys
import warnings
from contextlib import suppress
from importlib.metadata import version
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from malmoi.errors import MalmoiError, MalmoiWarning
from malmoi.serve.http.api_errors import to_api_error
from malmoi.serve.http.request_body import parse_body
from malmoi.serve.http.response import dump_json
from malmoi.serve.limits import Limits
from malmoi.serve.logs import Log
from malmoi.serve.mcp.standard_input import StandardInput
from malmoi.serve.mcp.tools import ServedTool, served_tools
from malmoi.serve.metrics import Metrics
from malmoi.serve.service.loaded_models import Models
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult

CLIENT = "stdio"  # there is one
INTERNAL = "internal error: see the log on standard error"


def run_over_stdio(models: Models, limits: Limits, log: Log) -> None:
    """Serve tools until the client closes standard input."""
    warnings.filterwarnings("ignore", category=MalmoiWarning)  # clients get counts
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Service(models, limits, Metrics()), log))


async def _serve(service: Service, log: Log) -> None:
    from mcp.server.stdio import stdio_server

    service.open()
    server, task = make_mcp_server(service, log), asyncio.current_task()
    if task is not None and hasattr(signal, "SIGTERM") and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        with StandardInput() as lines:
            # stdio_server points file 1 at standard error: a stray print is not a message.
            async with stdio_server(stdin=lines) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
    except asyncio.CancelledError:
        log("stopped")  # by a signal: the client gets the end of its input
    finally:
        await service.close()


def make_mcp_server(service: Service, log: Log) -> "Server[Any]":
    """The protocol's server of what a service has loaded."""
    from mcp import MCPError, types
    from mcp.server.lowlevel import Server

    tools, numbers = served_tools(service.models), count(1)

    async def list_tools(context: Any, params: Any) -> "types.ListToolsResult":
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        shown = [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.input_schema,
                output_schema=tool.output_schema,
                annotations=hints,
            )
            for tool in tools.values()
        ]
        return types.ListToolsResult(tools=shown)

    async def call_tool(
        context: Any, params: "types.CallToolRequestParams"
    ) -> "types.CallToolResult":
        if params.name not in tools:
            known = ", ".join(tools) or "none"
            sentence = f"there is no tool '{params.name}': the tools are {known}"
            raise MCPError(types.INVALID_PARAMS, sentence)
        request = RequestContext(str(next(numbers)), params.name, CLIENT, never)
        return await answer(service, log, tools[params.name], params.arguments or {}, request)

    return Server(
        "malmoi",
        version=version("malmoi"),
        title="malmoi",
        instructions="Searches texts in English and Korean, and compares them by meaning.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def answer(
    service: Service,
    log: Log,
    tool: ServedTool,
    arguments: dict[str, Any],
    context: RequestContext,
) -> "CallToolResult":
    """Call a tool; an error of the library is a result that says so in one sentence."""
    from mcp import types

    start, error = perf_counter(), None
    try:
        request = parse_body(orjson.dumps(arguments), tool.request_type, service.limits)
        body = dump_json(await tool.call(service, context, request))
        text, structured = body.decode(), orjson.loads(body)
    except Exception as failure:
        known = to_api_error(failure)
        error = known.code if known else type(failure).__name__  # no message: it may quote a text
        expected = known if known is not None else MalmoiError(INTERNAL)
        text, structured = str(expected), None
    finally:
        service.release_memory(context)
    log(
        "tool",
        id=context.request_id,
        tool=tool.name,
        error=error,
        seconds=round(perf_counter() - start, 6),
        model=context.model_name or None,
        texts=context.num_texts,
        tokens=context.num_tokens,
    )
    content = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(
        content=content, structured_content=structured, is_error=error is not None
    )


async def never() -> NoReturn:
    """Wait without end: a client over standard input does not disconnect from one request."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError
