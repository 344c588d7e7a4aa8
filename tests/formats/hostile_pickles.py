"""Pickles that attack their reader: they call, import, allocate, recurse, or break off.

`python -m tests.formats.hostile_pickles FOLDER` reads all of them with little memory and time.
"""

import pickle
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

CANARY = "canary"  # a file that code in a pickle would create
TOUCH = f"touch {CANARY}"
OPEN = f"open({CANARY!r}, 'w')"
PROTO2, PROTO4, STOP = b"\x80\x02", b"\x80\x04", b"."


def text(value: str) -> bytes:
    """BINUNICODE."""
    encoded = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def name(module: str, attribute: str) -> bytes:
    """GLOBAL."""
    return b"c" + f"{module}\n{attribute}\n".encode()


def stack_name(module: str, attribute: str) -> bytes:
    """STACK_GLOBAL."""
    return text(module) + text(attribute) + b"\x93"


def call(function: bytes, *args: bytes) -> bytes:
    """REDUCE."""
    return function + b"(" + b"".join(args) + b"tR"


def model(**attributes: bytes) -> bytes:
    """KeyedVectors with these attributes."""
    pairs = b"".join(text(key) + value for key, value in attributes.items())
    kind = name("gensim.models.keyedvectors", "KeyedVectors")
    return PROTO2 + kind + b")\x81}(" + pairs + b"ub" + STOP


WORDS = b"](" + text("a") + text("b") + b"e"
DTYPE = call(name("numpy", "dtype"), text("f4"), b"\x89", b"\x88") + (
    b"(K\x03" + text("<") + b"NNN" + b"J\xff\xff\xff\xff" * 2 + b"K\x00tb"
)
RECONSTRUCT = name("numpy.core.multiarray", "_reconstruct")
NDARRAY = name("numpy", "ndarray")


def array(shape: bytes, dtype: bytes, content: bytes, kind: bytes = NDARRAY) -> bytes:
    """An array as NumPy pickles it."""
    made = call(RECONSTRUCT, kind, b"K\x00\x85", b"C\x01b")
    return made + b"(K\x01" + shape + dtype + b"\x89" + content + b"tb"


def vectors(value: bytes) -> bytes:
    """KeyedVectors of two words whose matrix is `value`."""
    return model(index_to_key=WORDS, vectors=value)


def fasttext(word: str, max_n: bytes) -> bytes:
    """FastTextKeyedVectors of one word and one bucket."""
    rows = array(b"K\x01K\x01\x86", DTYPE, b"C\x04" + bytes(4))
    return model(
        index_to_key=b"]" + text(word) + b"a",
        vectors_vocab=rows,
        vectors_ngrams=rows,
        min_n=b"K\x01",
        max_n=max_n,
        bucket=b"K\x01",
        compatible_hash=b"\x88",
    )


def calls() -> dict[str, bytes]:
    """Calls of functions that run code, in each way that a pickle can call."""
    shell = text(TOUCH)
    direct = {
        "os.system": ("os", "system", shell),
        "posix.system": ("posix", "system", shell),
        "nt.system": ("nt", "system", shell),
        "subprocess.call": ("subprocess", "getoutput", shell),
        "builtins.eval": ("builtins", "eval", text(OPEN)),
        "builtins.exec": ("builtins", "exec", text(OPEN)),
        "__builtin__.eval": ("__builtin__", "eval", text(OPEN)),
        "builtins.__import__": ("builtins", "__import__", text("os")),
        "builtins.open": ("builtins", "open", text(CANARY) + text("w")),
        "builtins.getattr": ("builtins", "getattr", text("a") + text("b")),
        "builtins.compile": ("builtins", "compile", text(OPEN) + text("x") + text("eval")),
        "importlib.import_module": ("importlib", "import_module", text("os")),
        "runpy.run_path": ("runpy", "run_path", text(CANARY)),
        "code.interact": ("code", "interact", b""),
        "timeit.timeit": ("timeit", "timeit", text(OPEN)),
        "pickle.loads": ("pickle", "loads", b"C\x01."),
        "_pickle.loads": ("_pickle", "loads", b"C\x01."),
        "functools.partial": ("functools", "partial", b"N"),
        "operator.attrgetter": ("operator", "attrgetter", text("x")),
        "numpy.load": ("numpy", "load", text(CANARY)),
        "numpy.fromfile": ("numpy", "fromfile", text("/etc/passwd")),
        "numpy.save": ("numpy", "save", text(CANARY) + b"K\x01"),
        "numpy.memmap": ("numpy", "memmap", text(CANARY)),
        "numpy.lib.npyio.NpzFile": ("numpy.lib.npyio", "NpzFile", text(CANARY)),
        "numpy.testing.runstring": (
            "numpy.testing._private.utils",
            "runstring",
            text(OPEN) + b"}",
        ),
        "numpy.f2py.compile": ("numpy.f2py", "compile", text("x")),
        "numpy.distutils.exec_command": ("numpy.distutils.exec_command", "exec_command", shell),
        "gensim without a dot": ("gensimx.utils", "system", shell),
        "of builtins, never called": ("builtins", "hash", b"K\x01"),
        "ndarray itself": ("numpy", "ndarray", b"K\x01\x85"),
        "malmoi's own": ("malmoi.formats", "load", text(CANARY)),
        "__main__": ("__main__", "rule", b""),
    }
    made = {one: PROTO2 + call(name(*of[:2]), of[2]) + STOP for one, of in direct.items()}
    system, arguments = name("os", "system"), text(TOUCH)
    dotted = "Word2Vec.__init__.__globals__"
    return made | {
        "STACK_GLOBAL": PROTO4 + call(stack_name("os", "system"), arguments) + STOP,
        "STACK_GLOBAL, dotted name": PROTO4 + stack_name("gensim.models.word2vec", dotted) + STOP,
        "STACK_GLOBAL, dotted builtin": PROTO4 + stack_name("builtins", "object.__new__") + STOP,
        "STACK_GLOBAL of numbers": PROTO4 + b"K\x01K\x02\x93" + STOP,
        "INST": PROTO2 + b"(" + arguments + b"ios\nsystem\n" + STOP,
        "INST of gensim": PROTO2 + b"(igensim.models.word2vec\nWord2Vec\n" + STOP,
        "OBJ": PROTO2 + b"(" + system + arguments + b"o" + STOP,
        "NEWOBJ": PROTO2 + system + b"(" + arguments + b"t\x81" + STOP,
        "NEWOBJ_EX": PROTO4 + system + b"(" + arguments + b"t}\x92" + STOP,
        "EXT1": PROTO2 + b"\x82\x01" + STOP,
        "EXT2": PROTO2 + b"\x83\x01\x00" + STOP,
        "EXT4": PROTO2 + b"\x84\x01\x00\x00\x00" + STOP,
        "PERSID": PROTO2 + b"Pid\n" + STOP,
        "BINPERSID": PROTO2 + text("id") + b"Q" + STOP,
        "NEXT_BUFFER": b"\x80\x05\x97\x98" + STOP,
        "in the middle of a model": model(vectors=call(system, arguments)),
        "as a dictionary's default": model(
            vectors=call(name("collections", "defaultdict"), system)
        ),
        "by a reconstructor": PROTO2
        + call(name("copyreg", "_reconstructor"), system, b"NN")
        + STOP,
        "by the reconstructor of an array": vectors(
            array(b"K\x02K\x01\x86", DTYPE, b"C\x08" + bytes(8), system)
        ),
        "of a stand-in": PROTO2
        + name("gensim.utils", "os")
        + b")\x81"
        + arguments
        + b"\x85R"
        + STOP,
    }


def tricks() -> dict[str, bytes]:
    """States and arrays that a trusting reader would build."""
    kind = name("gensim.models.word2vec", "Word2Vec")
    state = text("__class__") + name("gensim.utils", "SaveLoad")
    objects = call(name("numpy", "dtype"), text("O8"), b"\x89", b"\x88")
    flagged = call(name("numpy", "dtype"), text("V8"), b"\x89", b"\x88") + (
        b"(K\x03" + text("|") + b"NNN" + b"K\x08K\x01K\x3ftb"
    )
    two = b"K\x02K\x01\x86"
    return {
        "BUILD of a class": PROTO2 + kind + b"}" + text("__setstate__") + b"Nsb" + STOP,
        "BUILD of slots": PROTO2 + kind + b")\x81N}" + state + b"s\x86b" + STOP,
        "BUILD twice": PROTO2 + kind + b")\x81}b}b" + STOP,
        "BUILD of a list": PROTO2 + b"]}b" + STOP,
        "BUILD of a number": PROTO2 + b"K\x01}b" + STOP,
        "__reduce__ in the state": model(__reduce__=WORDS, index_to_key=WORDS),
        "__dict__ in the state": model(__dict__=b"}", index_to_key=WORDS),
        "SETITEM of an object": PROTO2 + kind + b")\x81" + text("a") + b"K\x01s" + STOP,
        "APPEND to an object": PROTO2 + kind + b")\x81K\x01a" + STOP,
        "APPEND to a name": PROTO2 + kind + b"K\x01a" + STOP,
        "objects as numbers": vectors(array(two, objects, b"](K\x01K\x02e")),
        "pointers as objects": vectors(array(two, objects, b"C\x10" + b"A" * 16)),
        "flags of references": vectors(array(two, flagged, b"C\x10" + b"A" * 16)),
        "too large a shape": vectors(
            array(b"\x8a\x08" + b"\xff" * 7 + b"\x7fK\x02\x86", DTYPE, b"C\x08" + bytes(8))
        ),
        "a negative shape": vectors(
            array(b"J\xff\xff\xff\xffK\x02\x86", DTYPE, b"C\x08" + bytes(8))
        ),
        "a shape of many dimensions": vectors(
            array(b"(" + b"K\x01" * 64 + b"t", DTYPE, b"C\x04" + bytes(4))
        ),
        "a shape that is not one": vectors(array(text("shape"), DTYPE, b"C\x04" + bytes(4))),
        "too few bytes": vectors(array(two, DTYPE, b"C\x04" + bytes(4))),
        "a dtype by expression": vectors(
            array(two, call(name("numpy", "dtype"), text("f4,O")), b"C\x08" + bytes(8))
        ),
        "text beyond bytes": vectors(array(two, DTYPE, text("말모이말모이말모"))),
        "no words": model(vectors=array(two, DTYPE, b"C\x08" + bytes(8))),
        "words that are numbers": model(
            index_to_key=b"](K\x01K\x02e", vectors=array(two, DTYPE, b"C\x08" + bytes(8))
        ),
        "a lone surrogate": model(
            index_to_key=b"]" + text("\ud800") + b"a",
            vectors=array(b"K\x01K\x01\x86", DTYPE, b"C\x04" + bytes(4)),
        ),
        "more words than rows": model(
            index_to_key=b"](" + text("a") * 3 + b"e",
            vectors=array(two, DTYPE, b"C\x08" + bytes(8)),
        ),
        "arrays outside the folder": model(
            index_to_key=WORDS, __numpys=b"]" + text("/../../../etc/passwd") + b"a"
        ),
        "an array that is not there": model(
            index_to_key=WORDS, __numpys=b"]" + text("vectors") + b"a"
        ),
        "a model in itself": PROTO2 + kind + b")\x81q\x00}" + text("wv") + b"h\x00sb" + STOP,
        "a list in itself": model(index_to_key=b"]q\x01h\x01a"),
        "buckets without n-grams": model(
            index_to_key=WORDS, bucket=b"J\xff\xff\xff\x7f", min_n=b"K\x03", max_n=b"K\x06"
        ),
    }


def bombs() -> dict[str, bytes]:
    """Small files that would take much memory or time."""
    huge = struct.pack("<Q", 1 << 62)
    nested = b")" + b"\x85" * 200_000
    doubling = b")" + b"q\x000h\x00h\x00\x86" * 100
    deep_list = b"]" * 100_000 + b"a" * 99_999
    return {
        "memo bomb": PROTO2 + b"]r\xff\xff\xff\xff" + STOP,
        "bytes of 4 EB": PROTO4 + b"\x8e" + huge + STOP,
        "text of 4 EB": PROTO4 + b"\x8d" + huge + STOP,
        "bytearray of 4 EB": b"\x80\x05\x96" + huge + STOP,
        "frame of 4 EB": PROTO4 + b"\x95" + huge + b"N" + STOP,
        "bytes of 4 GB": PROTO2 + b"B\xff\xff\xff\xff" + STOP,
        "text of 4 GB": PROTO2 + b"X\xff\xff\xff\xff" + STOP,
        "string of -1": PROTO2 + b"T\xff\xff\xff\xff" + STOP,
        "integer of 2 GB": PROTO2 + b"\x8b\xff\xff\xff\x7f" + STOP,
        "integer of a million digits": PROTO2 + b"L" + b"9" * 1_000_000 + b"L\n" + STOP,
        "integer of 60,000 bytes": PROTO2
        + b"\x8b"
        + struct.pack("<i", 60_000)
        + b"\x7f" * 60_000
        + STOP,
        "a name without an end": PROTO2 + b"c" + b"x" * 1_000_000,
        "deeply nested tuples": PROTO2 + nested + STOP,
        "deeply nested tuples as a key": PROTO2 + b"}" + nested + b"Ns" + STOP,
        "deeply nested lists": PROTO2 + deep_list + STOP,
        "billion laughs": PROTO2 + doubling + STOP,
        "billion laughs as a key": PROTO2 + b"}" + doubling + b"Ns" + STOP,
        "billion laughs as a shape": vectors(array(doubling, DTYPE, b"C\x00")),
        "billion laughs as a class": PROTO2 + doubling + b")R" + STOP,
        "billion laughs as words": model(index_to_key=b"](" + doubling + b"e"),
        "an endless word": fasttext("x" * 100_000, b"K\x06"),
        "endless n-grams": fasttext("x" * 60_000, b"J\xff\xff\xff\x7f"),
        "many marks": PROTO2 + b"(" * 3_000_000 + STOP,
        "many values": PROTO2 + b"]" * 3_000_000 + STOP,
        "floats as keys": PROTO2 + b"}G" + bytes(8) + b"Ns" + STOP,
        "keys that collide": PROTO2
        + b"}("
        + b"".join(
            b"\x8a\x0f" + (i * (2**61 - 1)).to_bytes(15, "little") + b"N" for i in range(20_000)
        )
        + b"u"
        + STOP,
    }


def fragments() -> dict[str, bytes]:
    """Pickles that break off or are no pickles after their first bytes."""
    whole = pickle.dumps(KeyedVectors(3), protocol=4)
    kinds: dict[str, Any] = {"a dictionary": {"a": 1}, "a list": [1], "an array": np.eye(3)}
    return {
        **{
            f"truncated at {at}": whole[:at]
            for at in (2, 3, 11, 40, len(whole) // 2, len(whole) - 1)
        },
        **{f"pickle of {kind}": pickle.dumps(value, 4) for kind, value in kinds.items()},
        "nothing but its protocol": PROTO2,
        "stop at once": PROTO2 + STOP,
        "an empty stack": PROTO2 + b"0" + STOP,
        "no mark": PROTO2 + b"Nt" + STOP,
        "an odd dictionary": PROTO2 + b"}(Nu" + STOP,
        "an unknown memo": PROTO2 + b"h\x07" + STOP,
        "values left": PROTO2 + b"NN" + STOP,
        "a mark left": PROTO2 + b"(N" + STOP,
        "not a number": PROTO2 + b"Ix\n" + STOP,
        "not UTF-8": PROTO2 + b"X\x01\x00\x00\x00\xff" + STOP,
        "an unknown instruction": PROTO2 + b"\xff" + STOP,
    }


HOSTILE = calls() | tricks() | bombs() | fragments()


def read_all(folder: Path) -> None:
    """Read all of them with 1.5 GB of address space and a minute of time."""
    import malmoi as mm

    for number, content in enumerate(HOSTILE.values()):
        (folder / f"{number}.model").write_bytes(content)
    resource.setrlimit(resource.RLIMIT_AS, (1500 << 20, 1500 << 20))
    signal.alarm(60)
    for number, one in enumerate(HOSTILE):
        try:
            mm.load(folder / f"{number}.model")
        except mm.InvalidFileError:
            continue
        raise AssertionError(one)


if __name__ == "__main__":
    read_all(Path(sys.argv[1]))
