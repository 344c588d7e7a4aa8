"""What there is to know of an index in a folder, for people and programs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from malmoi.search.fusion import Fusion
from malmoi.search.storage.folder import Folder


def index_facts(path: Path) -> dict[str, Any]:
    """Facts by name; `recall` and what goes with it only where rows are in clusters."""
    state = Folder(path).read()
    words = {"morphemes": "Korean as morphemes", "bigrams": "Korean as pairs of syllables"}
    facts = {
        "format": "malmoi index",
        "texts": state.count,
        "dim": state.dim,
        "model": state.model or "none: made of vectors",
        "passages": state.vector_count if state.passages else "none: long texts are cut off",
        "fields": list(state.fields),
        "words": f"BM25, {words[state.analyser.hangul]}",
        "weight": state.weight,
        "learnt from": _source(state.fusion),
        "search": "approximate" if state.clusters else "exact",
        "segments": len(state.segments),
        "checksums": Folder(path).verify(),
        "deleted": len(state.living) - state.count,
        "bytes": sum(each.stat().st_size for each in path.iterdir() if each.is_file()),
    }
    prompts = state.prompts and {f"{name} prompt": it for name, it in asdict(state.prompts).items()}
    facts |= {name: text for name, text in (prompts or {}).items() if text}
    return facts | (state.clusters.facts if state.clusters else {})


def _source(fusion: Fusion | None) -> str:
    """What the weight of words in a hybrid search comes from."""
    if fusion is None:
        return "nothing: the usual weight"
    return f"{fusion.queries:,} pseudo-queries over {fusion.texts:,} texts"
