import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError
from malmoi.text.normalize import BlockNormalizer, Normalizer

ODD = st.sampled_from("한국ᄒ\u1161\u11abe\u0301\u00a0\u200b\ufeff\x07Å\u212b🙂\U0002f800 \n")


def uniform(text: bytes, **settings: object) -> tuple[bytes, BlockNormalizer]:
    made = BlockNormalizer(Normalizer(**settings))  # type: ignore[arg-type]
    return made(np.frombuffer(text, np.uint8)).tobytes(), made


def test_korean_in_its_letters_is_composed_and_counted() -> None:
    decomposed = unicodedata.normalize("NFD", "한국 사람")
    text, made = uniform(f"plain line\n{decomposed}\nlast".encode())
    assert text.decode() == "plain line\n한국 사람\nlast"
    assert made.decomposed == 4
    assert "into jamo (NFD): 4" in made.warnings()[0]


@given(st.text(ODD | st.characters(exclude_categories=["Cs"]), max_size=40))
def test_blocks_are_made_uniform_as_strings_are(text: str) -> None:
    expected = "\n".join(map(Normalizer(), text.split("\n")))
    assert uniform(text.encode())[0].decode() == expected


def test_invisible_characters_go_and_spaces_become_plain() -> None:
    assert Normalizer()("a\u200bb\u00a0c\u3000d\ufeff\x07") == "ab c d"
    assert Normalizer(invisible=False)("a\u200bb") == "a\u200bb"


def test_case_digits_and_repeats() -> None:
    assert Normalizer(lower=True)("İstanbul ÀB") == "i̇stanbul àb"
    assert Normalizer(digits=True)("1,024 개 ٣") == "0,000 개 0"
    assert Normalizer(repeats=2)("ㅋㅋㅋㅋㅋ soooo   good") == "ㅋㅋ soo   good"
    assert uniform("ㅋㅋㅋㅋ\n".encode(), repeats=2)[0].decode() == "ㅋㅋ\n"


def test_bytes_that_are_not_text_are_counted_by_line() -> None:
    text, made = uniform(b"good\nb\xff\xfed\nalso b\xc3d\n")
    assert made.bad_lines == 2
    assert text.decode() == "good\nb\ufffd\ufffdd\nalso b\ufffdd\n"


@pytest.mark.parametrize("settings", [{"form": "NFX"}, {"repeats": 0}])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        Normalizer(**settings)  # type: ignore[arg-type]
