"""Side-by-side measurements of Graphtide and its alternatives.

A bench is a module of this package with a function `run(quick, progress)` that yields a `Comparison` per
task. It runs ours and the peer in one process, compares their answers, and calls `progress` with a word
on what comes next. `quick` shrinks the data until the whole takes less than a minute.
"""

from graphtide.bench.catalogue import Progress, bench_subjects, run_bench
from graphtide.bench.comparison import Comparison
from graphtide.bench.machine import machine_facts
from graphtide.bench.report import Report, line_of

__all__ = ["Comparison", "Progress", "Report", "bench_subjects", "line_of", "machine_facts", "run_bench"]
