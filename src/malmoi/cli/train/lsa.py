"""`malmoi train lsa CORPUS --out PATH`: vectors from counts."""

from typing import Annotated

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.text_options import (
    MinCount,
    Out,
    Settings,
    Text,
    TextOptions,
    check_target,
    print_written,
)
from malmoi.formats import check_save_path, save
from malmoi.train.counts.lsa import LSA, train_lsa

TEXT, DEFAULT = TextOptions(), LSA()


def train_lsa_command(
    corpus: Text,
    /,
    *,
    out: Out,
    min_count: MinCount = 5,
    settings: Annotated[LSA, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Vectors by the singular values of counts: TF-IDF of documents, or PPMI of windows."""
    check_save_path(out)
    check_target(corpus, out)
    text = options.encoded(corpus, min_count)
    with progress_bar("training") as progress:
        vectors = train_lsa(text.ids, text.vocabulary, settings, progress=progress)
    save(vectors.with_meta(tokenizer=text.tokenizer), out)
    print_written(out, {"rows": len(vectors), "dim": vectors.dim}, json)
