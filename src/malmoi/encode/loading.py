"""An encoder by its name, whatever kind it is. Each kind is imported when it is asked for."""

from malmoi.encode.checkpoint.locate import (
    is_universal,
    is_vectors,
    precision_of,
    refuse_model_file,
)
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError


def load_encoder(name: str) -> Encoder:
    """An encoder by a folder, a file of vectors, `minilm`, `use`, or a name on the hub.

    Word vectors are averaged; `average_encoder` has the choices. An encoder whose layers are
    wanted is opened by `load_transformer`; `:quantized` after its name makes it faster.
    """
    place, precision = precision_of(name)
    if precision == "quantized" and (is_universal(place) or is_vectors(place)):
        ending = name.removeprefix(place)
        raise InvalidArgumentError(f"{place} has no layers to quantize: give it without {ending}")
    if is_universal(name):
        from malmoi.encode.universal import load_universal

        return load_universal()
    if is_vectors(name):
        from malmoi.encode.static.average import average_encoder
        from malmoi.formats import load

        refuse_model_file(name)
        return average_encoder(load(name), name=name)
    from malmoi.encode.encoder import load_transformer

    return load_transformer(name)
