"""The number of threads for parallel work. Does not import Numba, unlike other files here."""

import os

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
