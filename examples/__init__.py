"""Programs on the dataflow API, one to a file; `python -m examples.reachability` runs one.

Each is a function from collections to a collection, and a `main` that follows its answer through a
few changes of real data. `tests/oracle/test_programs.py` compares every one of them with another
algorithm after every change.
"""
