"""The kernel cache: nothing is compiled twice, and nothing stale is ever loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from graphtide.jit import cache_folder, source_closure

CALLEE = """
    from graphtide.jit import kernel
    from pool.limits import STEP

    @kernel
    def add(x):
        return x + STEP
"""
CALLER = """
    from graphtide.jit import kernel
    from pool.kernels.callee import add

    @kernel
    def twice(x):
        return 2 * add(x)

    def both_types():
        return twice(1), twice(1.5)
"""
UNRELATED = """
    from graphtide.jit import kernel

    @kernel
    def negate(x):
        return -x
"""
PROGRAM = """
    import json
    from pool.kernels.caller import twice
    from pool.kernels.unrelated import negate

    answers = [twice(1), negate(1)]
    hits = {f.__name__: sum(f.stats.cache_hits.values()) for f in (twice, negate)}
    misses = {f.__name__: sum(f.stats.cache_misses.values()) for f in (twice, negate)}
    print(json.dumps({"answers": answers, "hits": hits, "misses": misses}))
"""


class Pool:
    """A small package of kernels, and processes that call them with one cache between them."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "pool"
        self.cache = folder / "cache"
        (self.package / "kernels").mkdir(parents=True)
        self.write("__init__.py", "")
        self.write("limits.py", "STEP = 10\n")
        self.write("kernels/__init__.py", "")
        self.write("kernels/callee.py", CALLEE)
        self.write("kernels/caller.py", CALLER)
        self.write("kernels/unrelated.py", UNRELATED)

    def write(self, name: str, text: str) -> None:
        (self.package / name).write_text(textwrap.dedent(text))

    def run(self, program: str = PROGRAM, **environment: str) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.package.parent),
            "GRAPHTIDE_CACHE": str(self.cache),
            **environment,
        }
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def report(self, **environment: str) -> dict[str, object]:
        return json.loads(self.run(**environment))

    def entries(self) -> list[Path]:
        return sorted(self.cache.rglob("*.nbc"))


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)


COLD = {"hits": {"twice": 0, "negate": 0}, "misses": {"twice": 1, "negate": 1}}
WARM = {"hits": {"twice": 1, "negate": 1}, "misses": {"twice": 0, "negate": 0}}
CALLER_COLD = {"hits": {"twice": 0, "negate": 1}, "misses": {"twice": 1, "negate": 0}}


def test_a_second_process_compiles_nothing(pool: Pool) -> None:
    assert pool.report() == {"answers": [22, -1], **COLD}
    assert pool.report() == {"answers": [22, -1], **WARM}


def test_a_caller_whose_callee_was_compiled_anew_is_compiled_anew(pool: Pool) -> None:
    pool.report()
    (callee,) = (entry for entry in pool.entries() if entry.name.startswith("add-"))
    callee.unlink()
    assert pool.report() == {"answers": [22, -1], **CALLER_COLD}
    assert pool.report() == {"answers": [22, -1], **WARM}


def test_a_leaf_is_part_of_its_caller(pool: Pool) -> None:
    pool.write("kernels/callee.py", CALLEE.replace("kernel", "leaf"))
    pool.report()
    for entry in pool.entries():
        if entry.name.startswith("add-"):
            entry.unlink()
    assert pool.report() == {"answers": [22, -1], **WARM}


def test_an_edited_callee_in_another_file_recompiles_its_caller_and_nothing_else(pool: Pool) -> None:
    pool.report()
    pool.write("kernels/callee.py", CALLEE.replace("x + STEP", "x - STEP"))
    assert pool.report() == {"answers": [-18, -1], **CALLER_COLD}
    assert pool.report() == {"answers": [-18, -1], **WARM}


def test_an_edited_constant_two_imports_away_recompiles(pool: Pool) -> None:
    pool.report()
    pool.write("limits.py", "STEP = 20\n")
    assert pool.report() == {"answers": [42, -1], **CALLER_COLD}


def test_going_back_to_an_earlier_source_finds_its_build_again(pool: Pool) -> None:
    pool.report()
    pool.write("limits.py", "STEP = 20\n")
    pool.report()
    pool.write("limits.py", "STEP = 10\n")
    assert pool.report() == {"answers": [22, -1], **WARM}


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [("kernels/callee.py", "x + STEP", "x - STEP"), ("limits.py", "STEP = 10", "STEP = -10")],
)
def test_code_does_not_take_the_name_of_a_source_edited_while_its_process_ran(
    pool: Pool, module: str, old: str, new: str
) -> None:
    edit_then_call = f"""
        from pathlib import Path
        from pool.kernels.caller import twice

        file = Path({str(pool.package / module)!r})
        file.write_text(file.read_text().replace({old!r}, {new!r}))
        print(twice(1))
    """
    assert pool.run(edit_then_call) == "22\n"
    assert pool.report()["answers"] == [-18, -1]


def test_checked_and_unchecked_builds_are_told_apart(pool: Pool) -> None:
    pool.report()
    assert pool.report(NUMBA_BOUNDSCHECK="1")["misses"] == COLD["misses"]
    assert pool.report() == {"answers": [22, -1], **WARM}


def test_every_signature_has_its_entry_and_old_builds_are_dropped(pool: Pool) -> None:
    program = "from pool.kernels.caller import both_types; print(both_types())"
    for step in range(10, 15):
        pool.write("limits.py", f"STEP = {step}\n")
        assert pool.run(program) == f"({2 * (step + 1)}, {2 * (step + 1.5)})\n"
    # Four builds of two kernels with two signatures each.
    assert len(pool.entries()) == 4 * 2 * 2


def test_a_damaged_entry_is_compiled_again(pool: Pool) -> None:
    pool.report()
    for entry in pool.entries():
        entry.write_bytes(entry.read_bytes()[:-7])
    assert pool.report() == {"answers": [22, -1], **COLD}
    assert pool.report() == {"answers": [22, -1], **WARM}


def test_kernels_run_as_plain_python_when_numba_is_switched_off(pool: Pool) -> None:
    program = "from pool.kernels.caller import both_types; print(both_types())"
    assert pool.run(program, NUMBA_DISABLE_JIT="1") == "(22, 23.0)\n"
    assert pool.entries() == []


def test_closure_follows_every_form_of_import_within_the_package_only(tmp_path: Path) -> None:
    package = tmp_path / "lake"
    sources = {
        "__init__.py": "",
        "constants.py": "",
        "deep/__init__.py": "",
        "deep/kernels/__init__.py": "from .shared import f\nfrom lake import constants\n",
        "deep/kernels/shared.py": "import os\nimport numpy as np\nfrom ..relative import g\n",
        "deep/relative.py": "import lake.aliased as a\n",
        "aliased.py": "from lake.deep.kernels import start\n",
        "unrelated.py": "",
        "deep/kernels/start.py": "from graphtide.errors import SchemaError\nfrom lake.deep import kernels\n",
    }
    for name, text in sources.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    closure = source_closure("lake.deep.kernels.start", package / "deep/kernels/start.py")
    assert sorted(closure) == [
        "graphtide.errors",
        "graphtide.jit",
        "lake.aliased",
        "lake.constants",
        "lake.deep.kernels",
        "lake.deep.kernels.shared",
        "lake.deep.kernels.start",
        "lake.deep.relative",
    ]
    assert all(file.is_file() for file in closure.values())


def test_a_plain_import_reaches_the_packages_on_its_way(tmp_path: Path) -> None:
    package = tmp_path / "lake"
    (package / "kernels").mkdir(parents=True)
    (package / "__init__.py").write_text("DEPTH = 3\n")
    (package / "kernels/__init__.py").write_text("")
    (package / "kernels/start.py").write_text("import lake.kernels.other\n")
    (package / "kernels/other.py").write_text("")
    closure = source_closure("lake.kernels.start", package / "kernels/start.py")
    assert {"lake", "lake.kernels", "lake.kernels.other"} < set(closure)


@pytest.mark.parametrize(
    "source",
    [
        "from lake import other",
        "def late():\n    from lake import other",
        "if True: from lake import other",
        "depth = 3; import lake.other as it",
        "from lake import \\\n    other",
        "from lake import (\n    first,  # :)\n    other,\n)",
        '"""What to import\n\nfrom elsewhere.\n"""\nfrom lake import other',
    ],
)
def test_an_import_is_found_wherever_it_stands(tmp_path: Path, source: str) -> None:
    package = tmp_path / "lake"
    package.mkdir()
    for name, text in {"__init__": "", "other": "", "start": source}.items():
        (package / f"{name}.py").write_text(text)
    assert "lake.other" in source_closure("lake.start", package / "start.py")


def test_cache_folder_is_the_first_place_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A path below a regular file cannot be made, not even by root.
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("GRAPHTIDE_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "mine/kernels"
    monkeypatch.setenv("GRAPHTIDE_CACHE", str(blocked / "mine"))
    assert cache_folder() == tmp_path / "xdg/graphtide/kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "xdg"))
    assert tmp_path not in cache_folder().parents
    assert os.access(cache_folder(), os.W_OK)
