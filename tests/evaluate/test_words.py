import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import malmoi as mm
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.evaluate.sets import locate_sets as finding
from malmoi.evaluate.sets.locate_sets import find_sets
from malmoi.evaluate.sets.word_sets import AnalogySet
from malmoi.evaluate.word_vectors import evaluate_words
from tests.evaluate.sets import ANALOGIES, DOUBTFUL, PAIRS, animals, pieces
from tests.query.worlds import capitals
from tests.recording_reporter import RecordingReporter


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of our own, and no gensim."""
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "pairs.tsv").write_text(PAIRS)
    (tmp_path / "words" / "analogies.txt").write_text(ANALOGIES)
    (tmp_path / "words" / "notes.md").write_text("not a test")
    monkeypatch.setenv("MALMOI_DATA", str(tmp_path))
    monkeypatch.setattr(finding, "find_spec", lambda name: None)
    return tmp_path


def test_everything_in_the_folder_is_run(data: Path) -> None:
    found = evaluate_words(animals(), typos=True)
    assert [one.name for one in found.similarity] == ["pairs"]
    assert [one.name for one in found.typos] == ["pairs"]
    (score,) = found.analogies
    assert (score.name, score.total.value, score.total.total) == ("analogies", None, 4)
    assert evaluate_words(animals()).typos == ()


def test_files_given_are_told_by_content(data: Path) -> None:
    path = data / "words" / "analogies.txt"
    for files in (path, str(path), [path], [find_sets(path)[0]]):
        found = evaluate_words(capitals(), files)
        assert found.similarity == ()
        assert found.analogies[0].semantic.value == 1


def test_the_same_set_under_another_name_is_run_once(data: Path) -> None:
    (data / "words" / "twin.tsv").write_text("# the same\n" + PAIRS.replace("\t", "  "))
    assert [one.name for one in find_sets()] == ["pairs", "analogies"]


def test_what_is_no_test_is_left_out_and_told(data: Path) -> None:
    (data / "words" / "broken.txt").write_text("one two\nthree four\n")
    with pytest.warns(MalmoiWarning, match=r"skipped: .*broken\.txt is not a test"):
        assert len(find_sets()) == 2


def test_nothing_found_says_what_is_wanted(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALMOI_DATA")
    with pytest.raises(InvalidArgumentError, match="there are no test sets: give files"):
        evaluate_words(animals())
    with pytest.raises(InvalidArgumentError, match="there are no test sets: give files"):
        evaluate_words(animals(), [])
    monkeypatch.setenv("MALMOI_DATA", str(data / "elsewhere"))
    with (
        pytest.warns(MalmoiWarning, match="does not exist"),
        pytest.raises(InvalidArgumentError),
    ):
        find_sets()


def test_gensims_sets_are_found_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, gensim_data: Callable[[str], Path]
) -> None:
    monkeypatch.delenv("MALMOI_DATA", raising=False)
    code = (
        "import sys, malmoi.evaluate.word_vectors\n"
        "from malmoi.evaluate.sets.locate_sets import find_sets\n"
        "print(*[one.name for one in find_sets()])\n"
        "print('gensim' in sys.modules, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == [
        "wordsim353 simlex999 questions-words",
        "False False",
    ]


def test_most_frequent_and_case_reach_every_test(data: Path) -> None:
    found = evaluate_words(animals(), restrict_vocab=3, typos=True)
    assert found.similarity[0].spearman.answered == found.typos[0].retained.answered == 2
    with pytest.raises(InvalidArgumentError, match="restrict_vocab must be at least 1; got 0"):
        evaluate_words(capitals(), data / "words" / "analogies.txt", restrict_vocab=0)


def test_each_set_of_analogies_is_a_stage(data: Path) -> None:
    sets = [one for one in find_sets() if isinstance(one, AnalogySet)]
    reporter = RecordingReporter()
    evaluate_words(capitals(), sets * 2, reporter=reporter)
    assert reporter.stages == {"answering analogies": [(7, 7), (7, 7)]}


def test_public_names() -> None:
    assert mm.evaluate_words is evaluate_words
    assert mm.add_typo("tea") != "tea"


def test_a_seed_draws_other_intervals_and_other_typos(data: Path) -> None:
    path = data / "doubtful.tsv"
    path.write_text(DOUBTFUL)
    first, again, other = (
        evaluate_words(pieces(), path, typos=True, seed=seed) for seed in (0, 0, 1)
    )
    assert first == again == evaluate_words(pieces(), path, typos=True)
    assert first.similarity[0].spearman.value == other.similarity[0].spearman.value
    assert first.similarity[0].spearman != other.similarity[0].spearman
    assert first.typos[0].with_typos != other.typos[0].with_typos
    with pytest.raises(InvalidArgumentError, match="seed must be at least 0; got -1"):
        evaluate_words(pieces(), path, seed=-1)
