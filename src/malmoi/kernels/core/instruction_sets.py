"""The instruction sets that kernels support, and the one they are compiled for here."""

import platform
from pathlib import Path
from typing import NamedTuple

from llvmlite import binding

from malmoi.kernels.core.llvm import has_feature


class InstructionSet(NamedTuple):
    """A readable name, and the LLVM features that it needs beyond x86-64's SSE2."""

    name: str
    features: tuple[str, ...]


PROCESSORS = Path("/proc/cpuinfo")  # Linux
AVX2 = ("avx2", "fma")
AVX512 = (*AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl")
INSTRUCTION_SETS = (
    InstructionSet("plain", ()),
    InstructionSet("AVX2", AVX2),
    InstructionSet("AVX-512", AVX512),
    InstructionSet("AVX-512 VNNI", (*AVX512, "avx512vnni")),
)


def runnable_sets() -> list[InstructionSet]:
    """The sets that this processor can run, smallest first."""
    host = binding.get_host_cpu_features()
    return [each for each in INSTRUCTION_SETS if all(host.get(name) for name in each.features)]


def current_set() -> InstructionSet:
    """The largest set that kernels may use: that of this processor or NUMBA_CPU_NAME."""
    return [each for each in INSTRUCTION_SETS if all(has_feature(name) for name in each.features)][
        -1
    ]


def processor_name() -> str:
    """As the processor names itself, or the architecture where it does not say."""
    if PROCESSORS.is_file():
        for line in PROCESSORS.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()
