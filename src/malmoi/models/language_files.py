"""Opens language models of any kind, recognized by the content of the file."""

from os import PathLike

from malmoi.arguments import expect_path
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensors import open_safetensors
from malmoi.models import nnlm_model as nnlm
from malmoi.models.language_model import LanguageModel
from malmoi.models.ngram_files import KIND, is_safetensors, load_ngram

ARPA_MARK = b"\\data\\"


def load_language_model(path: str | PathLike[str]) -> LanguageModel:
    """Open an n-gram model (ARPA or malmoi's format) or a neural model.

    Args:
        path: the file; its name does not matter.

    Returns:
        An `NgramModel` or a `NeuralModel`.

    Raises:
        InvalidFileError: the file is missing, damaged or not a language model.
    """
    source = InputFile(expect_path(path))
    if is_safetensors(source):
        kind = open_safetensors(source).metadata.get("kind")
    else:
        kind = KIND.name if ARPA_MARK in source.head else None
    if kind == nnlm.KIND.name:
        return nnlm.load_nnlm(path)
    if kind == KIND.name:
        return load_ngram(path)
    raise InvalidFileError(
        f"{path} is not a language model: give an ARPA file, or a file"
        " that `malmoi train ngram` or `malmoi train nnlm` wrote"
    )
