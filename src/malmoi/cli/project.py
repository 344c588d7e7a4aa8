"""`malmoi project M --out page.html`: a page that shows vectors."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, open_model, print_json
from malmoi.cli.shared.text_options import Settings
from malmoi.errors import InvalidArgumentError
from malmoi.files.targets import check_writable
from malmoi.project.page.page import write_page
from malmoi.project.points.points import Points
from malmoi.project.points.sense_points import sense_points
from malmoi.project.points.text_points import text_points
from malmoi.project.points.word_points import word_points
from malmoi.project.scene import Field, Scene, Space
from malmoi.project.scene_builder import ProjectionSettings, build_scene
from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.search.build import open_index
from malmoi.search.storage.folder import is_index

DEFAULT_WORDS = 20_000
DEFAULT_SENTENCES = 2000  # with the word
DEFAULT = ProjectionSettings()
SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")


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
    if word is not None:
        points = [_occurrences(word, corpus, field, model, sentences, settings.seed, bool(models))]
    elif corpus is not None:
        raise InvalidArgumentError(
            "--corpus is where the occurrences of a --word are read: name the word"
        )
    elif not models:
        raise InvalidArgumentError(
            "name a file of vectors or an index to draw, or a --word and a --corpus"
        )
    else:
        points = [_points(one, most_frequent, labels) for one in models]
    with ProgressReporter() as reporter:
        scene = build_scene(*points, settings=settings, reporter=reporter)
    size = write_page(scene, out)
    if json:
        print_json({"written": str(out), "bytes": size, "spaces": [*map(_record, scene.spaces)]})
    else:
        _print_summary(scene, out, size)


def _points(model: str, most_frequent: int, labels: Path | None) -> Points:
    """The points of a file of vectors or of the folder of an index."""
    path = Path(model)
    if is_index(path):
        if labels is not None:
            raise InvalidArgumentError(f"{model} is an index: its own fields are its labels")
        index = open_index(path)
        entries = [index[key] for key in index.vectors.keys]
        texts = [entry.text for entry in entries]
        return text_points(path.name, index.vectors, texts, [entry.fields for entry in entries])
    vectors = open_model(model)
    name = path.name if path.exists() else model
    return word_points(vectors, name, most_frequent=most_frequent, labels=labels)


def _occurrences(
    word: str,
    corpus: str | None,
    field: str | None,
    model: str,
    most: int,
    seed: int,
    beside: bool,
) -> Points:
    """Every occurrence of a word in a corpus, in senses."""
    from malmoi.encode.encoder import load_transformer
    from malmoi.query.context import occurrences

    if beside:
        raise InvalidArgumentError("--word draws a word's occurrences alone: leave the vectors out")
    if corpus is None:
        raise InvalidArgumentError(f"where does '{word}' occur? Name a --corpus to read")
    if most < 1:
        raise InvalidArgumentError(f"--sentences must be at least 1; got {most}")
    texts = list(_sentences(word, corpus, field))
    if not texts:
        raise InvalidArgumentError(f"'{word}' occurs nowhere in {corpus}")
    with ProgressReporter() as reporter:
        word_vectors = occurrences(load_transformer(model), word, texts[:most], reporter=reporter)
    points = sense_points(
        word,
        word_vectors.keys,
        word_vectors.matrix,
        [texts[at] for at in word_vectors.texts],
        seed=seed,
    )
    if len(texts) > most:
        points = points.with_notes(f"of {len(texts):,} sentences that hold it, {most:,} are read")
    return points


def _sentences(word: str, corpus: str, field: str | None) -> Iterator[str]:
    """The sentences that contain a word, also as part of a longer word."""
    from malmoi.text.corpus import Corpus

    sought = normalize("NFC", word).casefold()
    for document in Corpus.of(corpus, field=field):
        if sought in document.casefold():
            for sentence in SENTENCE_END.split(document):
                if sought in sentence.casefold():
                    yield sentence


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
    print(f"{out}: {size / 1e6:.1f} MB, open it in a browser")
    for space in scene.spaces:
        print(f"{space.name}: {len(space.keys):,} points by {space.reduction}")
        share = space.neighbour_preservation
        print(f"  {share:.0%} of each point's neighbours are neighbours in the picture too")
        for field in space.fields:
            if field.name == "sense":
                print("\n".join(f"  {label} ({count:,})" for label, count in _counted(field)))
        for note in space.notes:
            print(f"note: {note}", file=sys.stderr)
