"""`malmoi demo`: the main job end to end on vectors and encoders that install with packages."""

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from malmoi.cli.demo_texts import show_sentences
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

NEXT = """\
What to type next:
  malmoi neighbours glove-6b-50d coffee tea
  malmoi analogy glove-6b-50d "paris - france + japan"
  malmoi context spring "a spring of water" "in spring and autumn" --model minilm
  malmoi convert glove-6b-50d glove.malmoi
  malmoi inspect YOUR-OWN-FILE.bin
  malmoi --help"""


def demo_command(*, json: AsJson = False) -> None:
    """Ask 400,000 word vectors, compare sentences, and write vectors and read them back."""
    say = (lambda *_: None) if json else print
    start = perf_counter()
    vectors = open_model(MODEL)
    say(f"Opened {len(vectors):,} words of {vectors.dim} numbers in {_since(start)}.\n")

    near = neighbours(vectors, WORD, 5)
    say(f"Nearest to '{WORD}':")
    if not json:
        print_neighbours(near)
    completed = {asked: analogy(vectors, asked, 1)[0].key for asked in ANALOGIES}
    say("\nAnalogies:")
    for asked, answer in completed.items():
        say(f"  {asked} = {answer}")
    odd = odd_one_out(vectors, ODD)
    say(f"\nThe odd one out of {', '.join(ODD)}: {odd}\n")

    sentences = show_sentences(say)
    same = {}
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        for name in FILES:
            save(vectors[:10], Path(folder, name))
            load(Path(folder, name))
        say(f"Compiled what must be fast in {_since(start)} (once; it is kept on disk).")
        for name in FILES:
            path = Path(folder, name)
            start = perf_counter()
            save(vectors, path)
            written = _since(start)
            start = perf_counter()
            again = load(path)
            same[name] = again.keys == vectors.keys and np.array_equal(again.matrix, vectors.matrix)
            verdict = "nothing changed" if same[name] else "THEY DIFFER"
            size = path.stat().st_size / 1e6
            say(
                f"Wrote {name} ({size:.0f} MB) in {written}, read it in {_since(start)}: {verdict}."
            )
    if json:
        answers = {"neighbours": [one.key for one in near], "analogies": completed, "odd": odd}
        told = {"sentences": sentences, "unchanged": same}
        print_json({"model": MODEL, "rows": len(vectors), **answers, **told})
    say(f"\n{NEXT}")
    if not all(same.values()):
        raise MalmoiError("what was read back is not what was written: please report this")


def _since(start: float) -> str:
    seconds = perf_counter() - start
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
