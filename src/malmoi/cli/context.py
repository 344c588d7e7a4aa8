"""`malmoi context WORD FILE|TEXT…`: a word's occurrences, each with its own vector, compared."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.score_table import interval
from malmoi.cli.shared.text_width import fitted
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.pooling.groups import WordPooling
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.recipes import RECIPES
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.senses import LayerSeparation, sense_separation
from malmoi.plots.heat_map import heat_map
from malmoi.plots.histogram import histogram
from malmoi.plots.svg import check_svg, write_svg
from malmoi.query.context import Occurrences, occurrences
from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.text.readers import COMPRESSED_SUFFIXES, TEXT_SUFFIXES

ABREAST = 6  # occurrences whose similarities fit beside their surroundings in 80 columns
NEAREST = 2  # shown of each occurrence where there are more
LABEL = 40
FILES = TEXT_SUFFIXES + COMPRESSED_SUFFIXES


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ContextOptions:
    """What is taken of each occurrence, and what counts as one."""

    layers: Annotated[
        str | None,
        Parameter(help="-2, 0,3,6, -4: or all; 0 goes into layer 1.", allow_leading_hyphen=True),
    ] = None
    layer_pooling: Annotated[
        LayerPooling | None, Parameter(help="How several layers become one.")
    ] = None
    recipe: Annotated[
        str | None, Parameter(help=f"{', '.join(RECIPES)}; last-four-sum if nothing is said.")
    ] = None
    word_pooling: Annotated[WordPooling, Parameter(help="How tokens become a word.")] = "mean"
    prefix: Annotated[
        bool | None, Parameter(help="Longer words that begin with it too; so for Hangul.")
    ] = None


DEFAULT = ContextOptions()


def context_command(
    word: Annotated[str, Parameter(help="The word to look for.")],
    *texts: Annotated[
        str, Parameter(help="Texts, files of a text a line, or -.", allow_leading_hyphen=True)
    ],
    model: Annotated[
        str, Parameter(help="A model's folder, a name on the hub, or minilm.")
    ] = "minilm",
    field: Annotated[str | None, Parameter(help="A file's field or column of text.")] = None,
    senses: Annotated[
        Path | None,
        Parameter(help="Lines of text, tab, sense instead: which layer tells senses apart."),
    ] = None,
    options: ContextOptions = DEFAULT,
    plot: Annotated[Path | None, Parameter(help="Similarities as a heat map: x.svg.")] = None,
    histogram: Annotated[Path | None, Parameter(help="How values are spread: x.svg.")] = None,
    json: AsJson = False,
) -> None:
    """Every occurrence of a word, and how similar they are to each other."""
    if bool(texts) == bool(senses):
        raise InvalidArgumentError("give texts or files to look through, or a file of --senses")
    for path in filter(None, (plot, histogram)):
        check_svg(path)
    if senses is not None:
        if plot or histogram or options.layers or options.layer_pooling or options.recipe:
            raise InvalidArgumentError(
                "senses are told apart layer by layer: leave layers and plots out"
            )
        show_senses(load_transformer(model), word, senses, options, json)
        return
    asked = [text for given in texts for text in read_texts(given, field)]
    encoder = load_transformer(model)
    with ProgressReporter() as reporter:
        found = occurrences(
            encoder,
            word,
            asked,
            recipe=options.recipe,
            layers=options.layers,
            layer_pooling=options.layer_pooling,
            word_pooling=options.word_pooling,
            prefix=options.prefix,
            reporter=reporter,
        )
    if json:
        print_json(as_record(model, found))
    else:
        print_occurrences(found)
    draw(found, model, plot, histogram)


def read_texts(given: str, field: str | None) -> list[str]:
    """The texts of a file, or what is given itself where there is no such file."""
    if given != "-" and not is_file(given):
        return [given]
    from malmoi.text.corpus import Corpus

    return list(Corpus.of(given, field=field))


def is_file(given: str) -> bool:
    """Whether there is such a file, or there should be one by its name."""
    if len(given.split()) == 1 and given.endswith(FILES):
        return True
    try:
        return Path(given).is_file()
    except (OSError, ValueError):  # too long for a name, or no name at all
        return False


def print_occurrences(found: Occurrences) -> None:
    """Where it occurs, and how similar each is to each; where there are many, to the nearest."""
    cosines = found.similarity()
    many = len(found) > ABREAST
    heads = "  most similar" if many else "".join(f"{i:>6}" for i in range(1, len(found) + 1))
    times = "once" if len(found) == 1 else f"{len(found):,} times"
    print(f"{'':5}{fitted(f'{found.word}: {times}', LABEL)}{heads}")
    for i, said in enumerate(found.surroundings):
        if many:
            np.fill_diagonal(cosines, -np.inf)
            near = np.argsort(-cosines[i], kind="stable")[:NEAREST]
            cells = "".join(f"  {j + 1:>5} {cosines[i, j]:.2f}" for j in near)
        else:
            cells = "".join(f"{cosine:6.2f}" for cosine in cosines[i])
        print(f"{i + 1:>4} {fitted(said, LABEL)}{cells}")


def as_record(model: str, found: Occurrences) -> dict[str, Any]:
    """Everything, for JSON."""
    each = zip(
        found.texts, found.keys, found.offsets.tolist(), found.surroundings, found.matrix.tolist(),
        strict=True,
    )  # fmt: skip
    return {
        "model": model,
        "word": found.word,
        "occurrences": [
            {"text": text, "word": key, "begin": begin, "end": end, "in": said, "vector": vector}
            for text, key, (begin, end), said, vector in each
        ],
        "similarity": [[round(value, 6) for value in row] for row in found.similarity().tolist()],
    }


def draw(found: Occurrences, model: str, plot: Path | None, values: Path | None) -> None:
    """The pictures asked for."""
    title = f"{found.word} in {Path(model).name}"
    if plot is not None:
        rows = [f"{i}  {said}" for i, said in enumerate(found.surroundings, 1)]
        heads = [str(i) for i in range(1, len(found) + 1)]
        cosines = found.similarity().tolist()
        write_svg(plot, heat_map(cosines, rows, heads, title=f"{title}: similarity", digits=2))
    if values is not None:
        write_svg(
            values, histogram(found.matrix, title=f"{title}: values of {len(found):,} vectors")
        )


def show_senses(
    encoder: TransformerEncoder, word: str, path: Path, options: ContextOptions, json: bool
) -> None:
    """A line a layer."""
    with ProgressReporter() as reporter:
        found = sense_separation(
            encoder,
            word,
            path,
            word_pooling=options.word_pooling,
            prefix=options.prefix,
            reporter=reporter,
        )
    best = max(found, key=lambda one: one.silhouette).layer
    if json:
        layers = [asdict(one) | {"gap": one.gap} for one in found]
        print_json({"model": encoder.name, "word": word, "best": best, "layers": layers})
        return
    print_senses(word, found, best)


def print_senses(word: str, found: Sequence[LayerSeparation], best: int) -> None:
    """A line a layer; the best by silhouette is marked."""
    print(f"{word}: {found[0].nearest.total:,} occurrences, mean similarity by sense; * is best")
    print("layer  same sense  another     gap  silhouette  nearest is of the same")
    for one in found:
        figures = f"{one.within:12.3f}{one.between:9.3f}{one.gap:8.3f}{one.silhouette:12.3f}"
        mark = "*" if one.layer == best else " "
        print(f"{one.layer:<5}{figures}{mark}  {one.nearest.value:.0%}  ({interval(one.nearest)})")
