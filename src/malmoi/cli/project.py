"""`malmoi project M --out page.html`: a page that shows vectors."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, open_model, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings
from malmoi.cli.translation.language import translate
from malmoi.encode.loading import load_contextual
from malmoi.errors import InvalidArgumentError
from malmoi.files.targets import check_writable
from malmoi.project.page.page import write_page
from malmoi.project.points.index_points import index_points
from malmoi.project.points.occurrence_points import DEFAULT_SENTENCES, occurrence_points
from malmoi.project.points.points import Points
from malmoi.project.points.word_points import word_points
from malmoi.project.scene import Field, Scene, Space
from malmoi.project.scene_builder import ProjectionSettings, build_scene
from malmoi.search.build import open_index
from malmoi.search.storage.address import is_postgres
from malmoi.search.storage.folder import is_index
from malmoi.text.corpus import Corpus

DEFAULT_WORDS = 20_000
DEFAULT = ProjectionSettings()


def project_command(
    *models: Annotated[
        str, Parameter(help="Vectors, an index of texts, or two of either to compare.")
    ],
    out: Annotated[Path, Parameter(help="The page to write: one HTML file.")],
    most_frequent: Annotated[int, Parameter(help="How many words to draw.")] = DEFAULT_WORDS,
    labels: Annotated[
        Path | None, Parameter(help="File of labels to colour by: key, tab, label per line.")
    ] = None,
    word: Annotated[str | None, Parameter(help="Draw each occurrence of a word instead.")] = None,
    corpus: Annotated[str | None, Parameter(help="With --word: the corpus to read.")] = None,
    field: Annotated[str | None, Parameter(help="The corpus's field or column of text.")] = None,
    sentences: Annotated[
        int, Parameter(help="With --word: how many sentences to read.")
    ] = DEFAULT_SENTENCES,
    model: Annotated[
        str, Parameter(help="With --word: the transformer that encodes it.")
    ] = "minilm",
    settings: Annotated[ProjectionSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Write a page of vectors: points to search, select, colour and compare."""
    check_writable(out)
    _check_word(word, corpus, models)
    with TerminalReporter() as reporter:
        if word is not None and corpus is not None:
            texts, encoder = Corpus.of(corpus, field=field), load_contextual(model)
            points = [
                occurrence_points(
                    encoder, word, texts, sentences=sentences, seed=settings.seed, reporter=reporter
                )
            ]
        else:
            points = [_points(one, most_frequent, labels) for one in models]
        scene = build_scene(*points, settings=settings, reporter=reporter)
    size = write_page(scene, out)
    if json:
        print_json({"written": str(out), "bytes": size, "spaces": [*map(_record, scene.spaces)]})
    else:
        _print_summary(scene, out, size)


def _points(model: str, most_frequent: int, labels: Path | None) -> Points:
    """The points of a file of vectors or of the folder of an index."""
    path = Path(model)
    if is_postgres(model) or is_index(path):
        if labels is not None:
            raise InvalidArgumentError(f"{model} is an index: its own fields are its labels")
        return index_points(open_index(model))
    name = path.name if path.exists() else model
    return word_points(open_model(model), name, most_frequent=most_frequent, labels=labels)


def _check_word(word: str | None, corpus: str | None, models: tuple[str, ...]) -> None:
    """Reject options that do not go together."""
    if word is None and corpus is not None:
        raise InvalidArgumentError(
            "--corpus is where the occurrences of a --word are read: name the word"
        )
    if word is None and not models:
        raise InvalidArgumentError(
            "name a file of vectors or an index to draw, or a --word and a --corpus"
        )
    if word is not None and models:
        raise InvalidArgumentError("--word draws a word's occurrences alone: leave the vectors out")
    if word is not None and corpus is None:
        raise InvalidArgumentError(f"where does '{word}' occur? Name a --corpus to read")


def _record(space: Space) -> dict[str, object]:
    return {
        "name": space.name,
        "points": len(space.keys),
        "reduction": space.reduction,
        "neighbour_preservation": round(space.neighbour_preservation, 4),
        "fields": {field.name: dict(_counted(field)) for field in space.fields},
        "notes": list(space.notes),
    }


def _counted(field: Field) -> Iterator[tuple[str, int]]:
    """The labels of a field and their counts; none for a field of numbers."""
    for at, label in enumerate(field.labels):
        yield label, int((field.values == at).sum())


def _print_summary(scene: Scene, out: Path, size: int) -> None:
    print(translate(f"{out}: {size / 1e6:.1f} MB, open it in a browser"))
    for space in scene.spaces:
        print(translate(f"{space.name}: {len(space.keys):,} points by {space.reduction}"))
        share = space.neighbour_preservation
        kept = f"{share:.0%} of each point's neighbours are neighbours in the picture too"
        print(f"  {translate(kept)}")
        for field in space.fields:
            if field.name == "sense":
                print("\n".join(f"  {label} ({count:,})" for label, count in _counted(field)))
        for note in space.notes:
            print(f"{translate('note:')} {translate(note)}", file=sys.stderr)
