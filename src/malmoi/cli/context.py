"""`malmoi context WORD FILE|TEXT…`: a word's occurrences, each with its own vector, compared."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_width import fitted
from malmoi.encode.loading import load_contextual
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pooling.groups import WordPooling
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.recipes import RECIPES
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.senses import LayerSeparation, sense_separation
from malmoi.plots.heat_map import heat_map
from malmoi.plots.histogram import histogram
from malmoi.plots.svg import check_svg, write_svg
from malmoi.query.context import Occurrences, occurrences
from malmoi.text.readers import COMPRESSED_SUFFIXES, TEXT_SUFFIXES

MAX_MATRIX_OCCURRENCES = 6  # whose similarities fit beside their surroundings in 80 columns
NUM_NEAREST = 2  # per occurrence, if there are more
LABEL_WIDTH = 40  # columns
FILE_SUFFIXES = TEXT_SUFFIXES + COMPRESSED_SUFFIXES


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ContextOptions:
    """Which vectors occurrences have, and what counts as an occurrence."""

    layers: Annotated[
        str | None,
        Parameter(
            help="-2, 0,3,6, -4: or all; 0 is the input of layer 1.", allow_leading_hyphen=True
        ),
    ] = None
    layer_pooling: Annotated[
        LayerPooling | None, Parameter(help="How several layers become one.")
    ] = None
    recipe: Annotated[
        str | None, Parameter(help=f"{', '.join(RECIPES)}; last-four-sum by default.")
    ] = None
    word_pooling: Annotated[WordPooling, Parameter(help="How tokens become a word.")] = "mean"
    prefix: Annotated[
        bool | None, Parameter(help="Match longer words that begin with it; default for Hangul.")
    ] = None


DEFAULT = ContextOptions()


def context_command(
    word: Annotated[str, Parameter(help="The word to look for.")],
    /,
    *texts: Annotated[
        str, Parameter(help="Texts, files with one text per line, or -.", allow_leading_hyphen=True)
    ],
    model: Annotated[
        str, Parameter(help="A model folder, a name on the Hub, or minilm.")
    ] = "minilm",
    field: Annotated[
        str | None, Parameter(help="The field or column of the texts in a file.")
    ] = None,
    senses: Annotated[
        Path | None,
        Parameter(help="A file of text, tab, sense: which layer separates senses."),
    ] = None,
    options: ContextOptions = DEFAULT,
    plot: Annotated[Path | None, Parameter(help="Write a heat map of similarities: x.svg.")] = None,
    histogram: Annotated[
        Path | None, Parameter(help="Write a histogram of vector values: x.svg.")
    ] = None,
    json: AsJson = False,
) -> None:
    """List every occurrence of a word, and how similar they are to each other."""
    if bool(texts) == bool(senses):
        raise InvalidArgumentError("pass texts or files to search, or a file of --senses")
    for path in filter(None, (plot, histogram)):
        check_svg(path)
    if senses is not None:
        if plot or histogram or options.layers or options.layer_pooling or options.recipe:
            raise InvalidArgumentError(
                "--senses compares all layers: leave out layers, recipes and plots"
            )
        print_sense_separation(load_contextual(model), word, senses, options, json)
        return
    all_texts = [text for argument in texts for text in read_texts(argument, field)]
    encoder = load_contextual(model)
    with TerminalReporter() as reporter:
        results = occurrences(
            encoder,
            word,
            all_texts,
            recipe=options.recipe,
            layers=options.layers,
            layer_pooling=options.layer_pooling,
            word_pooling=options.word_pooling,
            prefix=options.prefix,
            reporter=reporter,
        )
    if json:
        print_json(as_record(model, results))
    else:
        print_occurrences(results)
    draw(results, model, plot, histogram)


def read_texts(argument: str, field: str | None) -> list[str]:
    """The texts of a file, or the argument itself if there is no such file."""
    if argument != "-" and not is_file(argument):
        return [argument]
    from malmoi.text.corpus import Corpus

    return list(Corpus.of(argument, field=field))


def is_file(argument: str) -> bool:
    """Whether there is such a file, or the name looks like that of a file."""
    if len(argument.split()) == 1 and argument.endswith(FILE_SUFFIXES):
        return True
    try:
        return Path(argument).is_file()
    except (OSError, ValueError):  # too long for a name, or not a name
        return False


def print_occurrences(results: Occurrences) -> None:
    """Print all occurrences with their similarities, or with the nearest if there are many."""
    cosines = results.similarity()
    many = len(results) > MAX_MATRIX_OCCURRENCES
    nearest = results.nearest(NUM_NEAREST) if many else []
    heads = "  most similar" if many else "".join(f"{i:>6}" for i in range(1, len(results) + 1))
    times = "once" if len(results) == 1 else f"{len(results):,} times"
    print(f"{'':5}{fitted(f'{results.word}: {times}', LABEL_WIDTH)}{heads}")
    for i, surrounding in enumerate(results.surroundings):
        if many:
            cells = "".join(f"  {j + 1:>5} {cosine:.2f}" for j, cosine in nearest[i])
        else:
            cells = "".join(f"{cosine:6.2f}" for cosine in cosines[i])
        print(f"{i + 1:>4} {fitted(surrounding, LABEL_WIDTH)}{cells}")


def as_record(model: str, results: Occurrences) -> dict[str, Any]:
    """All results, for JSON."""
    each = zip(
        results.texts,
        results.keys,
        results.offsets.tolist(),
        results.surroundings,
        results.matrix.tolist(),
        strict=True,
    )
    return {
        "model": model,
        "word": results.word,
        "occurrences": [
            {
                "text": text,
                "word": key,
                "begin": begin,
                "end": end,
                "in": surrounding,
                "vector": vector,
            }
            for text, key, (begin, end), surrounding, vector in each
        ],
        "similarity": [[round(value, 6) for value in row] for row in results.similarity().tolist()],
    }


def draw(results: Occurrences, model: str, plot: Path | None, values: Path | None) -> None:
    """Write the plots."""
    title = f"{results.word} in {Path(model).name}"
    if plot is not None:
        rows = [f"{i}  {surrounding}" for i, surrounding in enumerate(results.surroundings, 1)]
        heads = [str(i) for i in range(1, len(results) + 1)]
        cosines = results.similarity().tolist()
        write_svg(plot, heat_map(cosines, rows, heads, title=f"{title}: similarity", digits=2))
    if values is not None:
        write_svg(
            values, histogram(results.matrix, title=f"{title}: values of {len(results):,} vectors")
        )


def print_sense_separation(
    encoder: ContextualEncoder, word: str, path: Path, options: ContextOptions, json: bool
) -> None:
    """Print one line per layer."""
    with TerminalReporter() as reporter:
        separations = sense_separation(
            encoder,
            word,
            path,
            word_pooling=options.word_pooling,
            prefix=options.prefix,
            reporter=reporter,
        )
    best = max(separations, key=lambda one: one.silhouette).layer
    if json:
        layers = [asdict(one) | {"gap": one.gap} for one in separations]
        print_json({"model": encoder.name, "word": word, "best": best, "layers": layers})
        return
    print_senses(word, separations, best)


def print_senses(word: str, separations: Sequence[LayerSeparation], best: int) -> None:
    """Print one line per layer; the best by silhouette is marked."""
    print(
        f"{word}: {separations[0].nearest.total:,} occurrences, mean similarity by sense; * is best"
    )
    print("layer  same sense  another     gap  silhouette  nearest is of the same")
    for one in separations:
        figures = f"{one.within:12.3f}{one.between:9.3f}{one.gap:8.3f}{one.silhouette:12.3f}"
        mark = "*" if one.layer == best else " "
        print(f"{one.layer:<5}{figures}{mark}  {one.nearest.value:.0%}  ({one.nearest.interval})")
