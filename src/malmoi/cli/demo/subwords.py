"""FastText in `malmoi demo`: trained on Korean lines within a second, it understands a typo."""

from pathlib import Path
from typing import Any

from malmoi.cli.demo.korean_lines import korean_lines
from malmoi.cli.demo.sentences import Show
from malmoi.project.page.page import write_page
from malmoi.project.points.word_points import word_points
from malmoi.project.scene_builder import ProjectionSettings, build_scene
from malmoi.query.neighbours import neighbours
from malmoi.reporting.reporter import SilentReporter
from malmoi.subwords import SubwordVectors
from malmoi.train.word2vec.fasttext import FastText, train_fasttext

SETTINGS = FastText(
    dim=50, window=4, epochs=10, units="jamo", buckets=20_000, min_count=3, threads=1, seed=1
)
TYPO = "환뷸"  # of 환불, a refund
WORDS_ON_PAGE = 400


def show_subwords(show: Show, folder: Path) -> dict[str, Any]:
    """Train on the bundled lines, look up a misspelt word, and write a page of all words."""
    lines = list(korean_lines())
    vectors = train_fasttext(lines, SETTINGS, reporter=SilentReporter())
    show(f"Trained FastText on {len(lines):,} Korean lines: {len(vectors):,} words.")
    word, probability = vectors.explain(TYPO).corrections[0]
    near = [one.key for one in neighbours(vectors, word, 3)]
    show(f"  '{TYPO}' is not among them: a typo of '{word}' ({probability:.0%} sure), which is")
    show(f"  near {', '.join(near)}\n")
    page = write_words(vectors, folder / "words.html")
    return {"words": len(vectors), "typo": TYPO, "meant": word, "near": near, "page": str(page)}


def write_words(vectors: SubwordVectors, path: Path) -> Path:
    """A page that shows the words as a map."""
    points = word_points(vectors, "FastText", most_frequent=WORDS_ON_PAGE)
    settings = ProjectionSettings(method="pca", clusters=8)
    write_page(build_scene(points, settings=settings, reporter=SilentReporter()), path)
    return path
