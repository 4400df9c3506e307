"""The house rules that a linter does not know."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/graphtide"
MODULES = sorted(PACKAGE.rglob("*.py"))
PROSE = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MADE_BY_HAND = [
    *MODULES,
    *PROSE,
    *(file for file in sorted(ROOT.glob("tests/**/*.py")) if file != Path(__file__)),
    *sorted(ROOT.glob("requirements/*")),
    *(ROOT / name for name in ("Makefile", "pyproject.toml", ".ci/run")),
]

LONGEST_MODULE = 500
NUMBA_MODULES = {PACKAGE / "jit.py", PACKAGE / "memory.py", *PACKAGE.glob("functions/*.py")}
EMPTY_NAMES = {"common", "helpers", "manager", "misc", "util", "utils"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
# Where the code came about is no business of its readers: machine paths, hosts of package registries.
OUT_OF_PLACE = re.compile(
    r"(?<![\w.])/(work|root|home|Users)/|\bsession \d|pythonhosted|pypi\.org|npmjs|crates\.io",
    re.IGNORECASE,
)


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


def imported_packages(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def decorators(file: Path) -> set[str]:
    functions = (node for node in ast.walk(tree(file)) if isinstance(node, ast.FunctionDef))
    return {ast.unparse(decorator) for function in functions for decorator in function.decorator_list}


def is_kernel_module(file: Path) -> bool:
    return "kernels" in file.relative_to(PACKAGE).parts[:-1]


each_module = pytest.mark.parametrize("file", MODULES, ids=relative)


@each_module
def test_a_module_is_short_enough_to_hold_one_noun(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= LONGEST_MODULE


@each_module
def test_a_module_is_named_by_its_content(file: Path) -> None:
    assert file.stem not in EMPTY_NAMES
    assert file.parent.name not in EMPTY_NAMES


@each_module
def test_a_module_says_what_it_holds(file: Path) -> None:
    assert ast.get_docstring(tree(file))


@each_module
def test_numba_stays_in_the_modules_that_answer_for_it(file: Path) -> None:
    if file not in NUMBA_MODULES:
        assert not {"numba", "llvmlite"} & imported_packages(file)


@each_module
def test_kernels_stay_in_folders_of_kernels(file: Path) -> None:
    if not is_kernel_module(file) and file not in NUMBA_MODULES:
        assert not {name for name in decorators(file) if name.partition("(")[0] == "kernel"}


@each_module
def test_only_commands_and_benches_print(file: Path) -> None:
    if file.relative_to(PACKAGE).parts[0] not in {"cli", "bench"}:
        calls = (node.func for node in ast.walk(tree(file)) if isinstance(node, ast.Call))
        assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


@each_module
def test_nothing_is_left_unfinished(file: Path) -> None:
    assert not UNFINISHED.findall(file.read_text())


@pytest.mark.parametrize("file", [file for file in MODULES if file.name == "__init__.py"], ids=relative)
def test_a_package_says_what_it_exports(file: Path) -> None:
    targets = [target for node in tree(file).body if isinstance(node, ast.Assign) for target in node.targets]
    assert "__all__" in {target.id for target in targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("file", MADE_BY_HAND, ids=relative)
def test_no_file_tells_where_it_was_written(file: Path) -> None:
    assert not OUT_OF_PLACE.findall(file.read_text())


def test_every_design_document_is_listed() -> None:
    folder = ROOT / "docs/design"
    documents = {file.name for file in folder.glob("*.md")} - {"README.md"}
    linked = set(re.findall(r"\]\(([^)#]+\.md)\)", (folder / "README.md").read_text()))
    assert linked == documents


@pytest.mark.parametrize("file", PROSE, ids=relative)
def test_links_between_documents_lead_somewhere(file: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text())
    assert [link for link in links if "://" not in link and not (file.parent / link).exists()] == []


def test_the_glossary_is_sorted_and_says_each_word_once() -> None:
    terms = re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE)
    assert terms == sorted(set(terms), key=str.casefold)
    assert len(terms) > 20
