"""`malmoi reindex I --model NEW`: change the model of an index; the old one answers until then."""

from dataclasses import asdict, replace
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Flag, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings
from malmoi.cli.shared.text_width import wrapped
from malmoi.cli.translation.language import translate
from malmoi.encode.loading import load_encoder
from malmoi.search.reindex.settings import ReindexSettings
from malmoi.search.storage.address import path_or_url, shown_path

DEFAULT = ReindexSettings()


def reindex_command(
    index: Annotated[
        str, Parameter(help="The folder of an index (malmoi index), or its postgresql:// URL.")
    ],
    /,
    *,
    model: Annotated[
        str,
        Parameter(help="The new model: a folder, a name on the hub, a file, minilm or use."),
    ],
    settings: Annotated[ReindexSettings, Settings] = DEFAULT,
    yes: Annotated[
        bool, Flag, Parameter(help="Translate whatever the measured recall (--min-recall 0).")
    ] = False,
    document_prompt: Annotated[
        str | None, Parameter(help="Text before each document (default: that of the model).")
    ] = None,
    query_prompt: Annotated[
        str | None, Parameter(help="Text before each query (default: that of the model).")
    ] = None,
    json: AsJson = False,
) -> None:
    """Change the model of an index; texts, ids and fields stay, and a killed run continues."""
    from malmoi.encode.pipeline.prompts import given_prompts
    from malmoi.search.reindex.reindexing import reindex  # slow to import

    encoder = load_encoder(model)
    prompts = given_prompts(encoder, document=document_prompt, query=query_prompt)
    if yes:
        settings = replace(settings, min_recall=0.0)
    with TerminalReporter() as reporter:
        done = reindex(path_or_url(index), encoder, settings, prompts=prompts, reporter=reporter)
    if json:
        print_json({"written": shown_path(index), **asdict(done)})
        return
    print(wrapped(f"{shown_path(index)}: {done.before or 'no model'} → {done.model}", 4))
    how = "" if done.recall is None else f", translated: recall@10 {done.recall:.2f}"
    print(translate(f"{done.texts:,} texts, {done.embedded:,} embedded{how}"))
