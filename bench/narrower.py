"""Figures of a part once more without AVX-512, ours and the peers', in a process of its own.

Most laptops and cloud machines have AVX2 and no AVX-512: so it is measured on one that has both.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from llvmlite import binding

from bench.measure import ROOT, Figure, say

BEYOND = ("avx512", "avx10", "amx", "evex")  # how features that come with AVX-512 begin
CPU = "haswell"  # the first with AVX2 and FMA
PEERS = {
    "ATEN_CPU_CAPABILITY": "avx2",  # torch
    "DNNL_MAX_CPU_ISA": "AVX2",  # oneDNN, in torch
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}


def figures_without_avx512(module: str) -> Iterator[Figure]:
    """What a module prints by `print_figures` when it is run so; nothing where all is the same."""
    host = binding.get_host_cpu_features()
    if not host.get("avx512f"):
        say("this processor has no AVX-512: the figures above are those without it")
        return
    if os.environ.get("NUMBA_CPU_NAME"):
        say("NUMBA_CPU_NAME is set: the figures without AVX-512 are left out")
        return
    say("the same without AVX-512, ours and the peer's")
    features = sorted(name for name, there in host.items() if there and not name.startswith(BEYOND))
    ours = {
        "NUMBA_CPU_NAME": CPU,
        "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in features),
    }
    done = subprocess.run(
        [sys.executable, "-m", module],
        env=os.environ | PEERS | ours,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    for figure in json.loads(done.stdout):
        yield Figure(**figure)


def print_figures(figures: Iterable[Figure]) -> None:
    """Figures for another process."""
    json.dump([asdict(figure) for figure in figures], sys.stdout)
