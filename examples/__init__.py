"""Programs to read and run, one to a file; `python -m examples.reachability` runs one.

Those on the dataflow API are a function from collections to a collection, and a `main` that follows its answer through
a few changes of real data. `tests/oracle/test_programs.py` compares every one of them with another algorithm after
every change. `closed_airports` and `debian_releases` work on views of a graph; docs/examples shows what they print.
"""
