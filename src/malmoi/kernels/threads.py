"""How many threads share a piece of work. Imports no Numba, unlike the other files here."""

import os

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
