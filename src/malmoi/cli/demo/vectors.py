"""`malmoi demo`: the main features on vectors and encoders that install with packages."""

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from malmoi.cli.demo.questions import show_questions
from malmoi.cli.demo.sentences import Show, show_sentences
from malmoi.cli.demo.subwords import show_subwords
from malmoi.cli.shared.output import AsJson, open_model, print_json, print_neighbours
from malmoi.errors import MalmoiError
from malmoi.formats import load, save
from malmoi.query.analogy import analogy
from malmoi.query.compare import odd_one_out
from malmoi.query.neighbours import neighbours

MODEL = "glove-6b-50d"
WORD = "seoul"
ANALOGIES = ("king - man + woman", "korea - seoul + tokyo", "walking - walk + swim")
ODD = ("breakfast", "lunch", "dinner", "violin")
FILES = ("demo.txt", "demo.malmoi")

NEXT_STEPS = """\
What to try next:
  malmoi neighbours glove-6b-50d coffee tea
  malmoi analogy glove-6b-50d "paris - france + japan"
  malmoi context spring "a spring of water" "in spring and autumn" --model minilm
  malmoi convert glove-6b-50d glove.malmoi
  malmoi inspect YOUR-OWN-FILE.bin
  malmoi --help"""


def demo_command(*, json: AsJson = False) -> None:
    """Query 400,000 word vectors, train FastText, compare sentences, search, draw a map."""
    show: Show = (lambda *_: None) if json else print
    start = perf_counter()
    vectors = open_model(MODEL)
    show(f"Loaded {len(vectors):,} words of {vectors.dim} dimensions in {_since(start)}.\n")

    nearest = neighbours(vectors, WORD, 5)
    show(f"Nearest to '{WORD}':")
    if not json:
        print_neighbours(nearest)
    completed = {query: analogy(vectors, query, 1)[0].key for query in ANALOGIES}
    show("\nAnalogies:")
    for query, word in completed.items():
        show(f"  {query} = {word}")
    odd = odd_one_out(vectors, ODD)
    show(f"\nThe odd one out of {', '.join(ODD)}: {odd}\n")

    subwords = show_subwords(show, Path(tempfile.mkdtemp(prefix="malmoi-demo-")))
    sentences = show_sentences(show)
    answers = show_questions(show)
    is_same = {}
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        for name in FILES:
            save(vectors[:10], Path(folder, name))
            load(Path(folder, name))
        show(f"Compiled the kernels in {_since(start)} (once; they are cached on disk).")
        for name in FILES:
            path = Path(folder, name)
            start = perf_counter()
            save(vectors, path)
            written = _since(start)
            start = perf_counter()
            again = load(path)
            is_same[name] = again.keys == vectors.keys and np.array_equal(
                again.matrix, vectors.matrix
            )
            verdict = "unchanged" if is_same[name] else "THEY DIFFER"
            size = path.stat().st_size / 1e6
            show(
                f"Wrote {name} ({size:.0f} MB) in {written}, read it in {_since(start)}: {verdict}."
            )
    if json:
        print_json(
            {
                "model": MODEL,
                "rows": len(vectors),
                "neighbours": [each.key for each in nearest],
                "analogies": completed,
                "odd": odd,
                "subwords": subwords,
                "sentences": sentences,
                "answers": answers,
                "unchanged": is_same,
            }
        )
    show(f"\nA map of the trained words, for your browser: {subwords['page']}")
    show(f"\n{NEXT_STEPS}")
    if not all(is_same.values()):
        raise MalmoiError("the loaded vectors differ from the saved ones: please report this")


def _since(start: float) -> str:
    seconds = perf_counter() - start
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
