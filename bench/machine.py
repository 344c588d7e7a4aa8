"""What the figures were measured on: the processor, its cores, and the instructions in use."""

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from malmoi.kernels.core.instruction_sets import current_set
from malmoi.kernels.threads import THREADS

PROCESSORS = Path("/proc/cpuinfo")  # Linux


@dataclass(frozen=True, kw_only=True)
class Machine:
    """`instructions` is the largest set that kernels are compiled for."""

    processor: str
    cores: int
    instructions: str

    @classmethod
    def here(cls) -> Self:
        """The machine that this runs on."""
        return cls(processor=processor_name(), cores=THREADS, instructions=current_set().name)

    def __str__(self) -> str:
        return f"{self.processor}, {self.cores} cores, {self.instructions}"


def processor_name() -> str:
    """As the processor names itself, or the architecture where it does not say."""
    if PROCESSORS.is_file():
        for line in PROCESSORS.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()
