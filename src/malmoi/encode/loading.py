"""An encoder by its name, whatever kind it is. Each kind is imported when it is asked for."""

from malmoi.encode.finding import is_universal, is_vectors, refuse_model_file
from malmoi.encode.protocol import Encoder, Precision
from malmoi.errors import BadSetting


def load_encoder(name: str, precision: Precision = "float32") -> Encoder:
    """An encoder by a folder, a file of vectors, `minilm`, `use`, or a name on the hub.

    Word vectors are averaged; `average_encoder` has the choices. An encoder whose layers are
    wanted is opened by `load_contextual`. With `int8`, models of BERT's kind are two to three
    times as fast and a little less exact; others have no such choice.
    """
    if precision != "float32" and (is_universal(name) or is_vectors(name)):
        raise BadSetting(f"{name} has no precision '{precision}': only models with layers have")
    if is_universal(name):
        from malmoi.encode.use import load_universal

        return load_universal()
    if is_vectors(name):
        from malmoi.encode.average import average_encoder
        from malmoi.formats import load

        refuse_model_file(name)
        return average_encoder(load(name), name=name)
    from malmoi.encode.encoder import load_contextual

    return load_contextual(name, precision)
