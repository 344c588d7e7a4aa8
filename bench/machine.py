"""What the figures were measured on: the processor, its cores, and the instructions in use."""

from dataclasses import dataclass
from typing import Self

from malmoi.kernels.core.instruction_sets import current_set, processor_name
from malmoi.kernels.threads import THREADS


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
