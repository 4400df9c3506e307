"""Compiled kernels, and a cache of them on disk that is never stale.

A kernel is a function over arrays and scalars that numba compiles. Numba's own cache looks at one
file per function, so a cached caller keeps the machine code of a callee that has since changed in
another file, and its index can pair a signature with another one's code when two processes write at
once. Here an entry is one file, named by all that its code depends on and written in one step.

Invariant: an entry is loaded only if the sources of the kernel's module and of all modules that it
imports, within its own package and Graphtide's, are byte for byte those it was compiled from
(docs/design/01-kernel-cache.md).
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import os
import pickle
import re
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import compiler, config, registry, serialize

__all__ = [
    "CacheState",
    "borrowing",
    "borrowing_leaf",
    "cache_folder",
    "cache_state",
    "inlined",
    "kernel",
    "leaf",
    "looped",
    "source_closure",
]

Function = TypeVar("Function", bound=Callable[..., Any])

# The inside of numba carries no types.
_compile_result: Any = compiler.CompileResult
_config: Any = config
_cpu_target: Any = registry.cpu_target
_dumps: Any = serialize.dumps
_llvm: Any = llvm

# Builds of one kernel and signature that are kept: enough for a few branches or checkouts at once.
KEPT_BUILDS = 4


def kernel(function: Function) -> Function:
    """Compile `function` when it is called with new types, or load it if that was done before.

    It holds no interpreter lock, divides as NumPy does, and checks bounds only under
    NUMBA_BOUNDSCHECK=1. Python sees the signature that was written. Its machine code is made
    once: kernels that call it call it there.
    """
    return _made_once(leaf(function))


def borrowing(function: Function) -> Function:
    """A kernel that makes no array, gets none from what it calls, and gives none back but scalars.

    So nobody's holders need be counted: numba counts them atomically whenever an array is bound to another name, and
    in a loop over keys that was a quarter of the time.
    """
    return _made_once(_cached(_njit(function, _nrt=False), function))


def leaf(function: Function) -> Function:
    """A kernel so small, or called so often, that LLVM should get a copy of it for every caller."""
    return _cached(_njit(function), function)


def borrowing_leaf(function: Function) -> Function:
    """A leaf that makes no array and gets none from what it calls, so that nobody's holders need be counted."""
    return _cached(_njit(function, _nrt=False), function)


def _made_once(dispatcher: Any) -> Any:
    if not _config.DISABLE_JIT:
        _call_in_place(dispatcher)
    return dispatcher


def _cached(dispatcher: Any, function: Any) -> Any:
    if _config.DISABLE_JIT:
        return dispatcher
    _widen_literals(dispatcher)
    file = Path(inspect.getfile(function))
    if file.is_file():
        # What `Dispatcher.enable_caching` does, with our cache in numba's place.
        dispatcher._cache = KernelCache(dispatcher, file)  # noqa: SLF001
    return dispatcher


def inlined(function: Function) -> Function:
    """A part of one kernel that is written apart: its code is put where it is called, before compilation."""
    return _njit(function, inline="always")


def looped(function: Callable[..., Any], takes: Sequence[Any], gives: Any) -> Callable[..., Any] | None:
    """A user's function of scalars as a compiled loop(out, columns), for this process alone.

    None if the compiled function would give another type. Whatever numba raises about the function
    comes through.
    """
    each: Any = numba.njit(nogil=True)(function)
    signature = tuple(numba.from_dtype(np.dtype(one)) for one in takes)
    each.compile(signature)
    if each.overloads[signature].signature.return_type != numba.from_dtype(np.dtype(gives)):
        return None

    @numba.njit(nogil=True)
    def loop(out: Any, columns: Any) -> None:
        i = 0
        for values in zip(*columns):  # noqa: B905 - compiled
            out[i] = each(*values)
            i += 1  # noqa: SIM113 - compiled

    return loop


def _njit(function: Any, **more: Any) -> Any:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": None, "no_cfunc_wrapper": True}
    return numba.njit(**options, **more)(function)


def _call_in_place(dispatcher: Any) -> None:
    """Let kernels refer to this one by its symbol, where numba would link a copy into each of them.

    A copy is optimised and translated again with every caller, and again with theirs.
    """
    add_overload = dispatcher.add_overload

    def added(result: Any) -> None:
        context = dispatcher.targetctx
        context.remove_user_function(result.entry_point)
        context.insert_user_function(result.entry_point, result.fndesc, ())
        _in_place[result.fndesc.mangled_name] = dispatcher, result.signature.args
        add_overload(result)

    dispatcher.add_overload = added


# The kernels that are called where they are, by their symbols: dispatchers and types of arguments.
_in_place: dict[str, tuple[Any, Any]] = {}


def _widen_literals(dispatcher: Any) -> None:
    """Let a kernel that passes a literal to another share the build for any value of its type.

    Numba would compile the callee once more for each literal: twice as many builds in all.
    """
    templates = dispatcher.get_call_template

    def widened(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return templates(
            tuple(numba.types.unliteral(argument) for argument in arguments),
            {name: numba.types.unliteral(argument) for name, argument in keywords.items()},
        )

    dispatcher.get_call_template = widened


def cache_folder() -> Path:
    """The folder of compiled kernels: the first of these places that can be written.

    `$GRAPHTIDE_CACHE/kernels`, `graphtide/kernels` in `$XDG_CACHE_HOME` or `~/.cache`, and a private
    folder among the temporary files.
    """
    chosen = os.environ.get("GRAPHTIDE_CACHE")
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "graphtide")
    for home in ([Path(chosen)] if chosen else []) + [user]:
        folder = home.absolute() / "kernels"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return _private_temporary_folder()


@dataclass(frozen=True, slots=True)
class CacheState:
    """What the cache holds for the kernels that this process has imported."""

    folder: Path
    bytes: int
    kernels: int
    warm: int


def cache_state() -> CacheState:
    """Measure the cache; a kernel is warm if it need not be compiled for some signature."""
    folder = cache_folder()
    return CacheState(
        folder=folder,
        bytes=sum(file.stat().st_size for file in folder.rglob("*.nbc")),
        kernels=len(_caches),
        warm=sum(one.is_warm() for one in _caches.values()),
    )


def source_closure(module: str, file: Path) -> dict[str, Path]:
    """The modules that a kernel in `module` may take code or constants from, itself included.

    They are those that it imports, directly or not, from its own package or from Graphtide's.
    """
    roots = {"graphtide": Path(__file__).parent}
    if "." in module:
        depth = module.count(".") + (file.name == "__init__.py")
        roots[module.partition(".")[0]] = file.parents[depth - 1]
    closure = {module: file, "graphtide.jit": Path(__file__)}
    pending = [module]
    while pending:
        name = pending.pop()
        package = name if closure[name].name == "__init__.py" else name.rpartition(".")[0]
        for imported, its_file in _imported(_source(closure[name]), package, tuple(roots.items())):
            if imported not in closure:
                closure[imported] = its_file
                pending.append(imported)
    return closure


class KernelCache:
    """The entries of one kernel, in the shape that numba's dispatchers ask for.

    An entry's name is `function-signature-build.nbc`, where the build is a digest of the sources, the
    tools, the processor and the options: to look up is to open a file, and there is no index to
    keep in step. The sources are those that this process imported: a file edited while the
    process runs does not lend its name to older code.
    """

    def __init__(self, dispatcher: Any, file: Path) -> None:
        function = dispatcher.py_func
        self.dispatcher = dispatcher
        self._module = function.__module__
        self._name = function.__qualname__.replace("<", "").replace(">", "")
        self._line = function.__code__.co_firstlineno
        self._file = file
        self._enabled = True
        _sources[file] = file.read_bytes()
        _caches[self.key] = self

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells the kernel from all others of this process."""
        return self._module, self._name, self._line

    @cached_property
    def _sources_digest(self) -> str:
        closure = source_closure(self._module, self._file)
        return _digest(sorted((name, _digest(_source(file))) for name, file in closure.items()))

    @cached_property
    def _folder(self) -> Path:
        return cache_folder() / self._module

    @property
    def cache_path(self) -> str:
        """Where the entries are."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for a signature, or nothing if it was never compiled from these sources."""
        if not self._enabled:
            return None
        _refresh_once(target_context)
        try:
            data = self._entry(sig, target_context.codegen()).read_bytes()
        except OSError:
            return None
        checksum, data = data[:32], data[32:]
        if hashlib.sha256(data).digest() != checksum:
            return None
        saved, callees, payload = pickle.loads(data)
        if saved != sig or not all(_is_there(*callee) for callee in callees):
            return None
        return _compile_result._rebuild(target_context, *payload)  # noqa: SLF001

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; a full or vanished disk costs only the next process its time."""
        if not self._enabled:
            return
        if data.lifted or data.library.has_dynamic_globals:
            name = f"{self._module}.{self._name}"
            warnings.warn(f"kernel {name} has lifted code or a large global: not cached", RuntimeWarning, 2)
            return
        entry = self._entry(sig, data.codegen)
        library, *rest = data._reduce()  # noqa: SLF001
        if data.fndesc.mangled_name in _in_place:
            library = _without_bitcode(*library)
        pickled = _dumps((sig, list(_callees(data.library)), (library, *rest)))
        with contextlib.suppress(OSError):
            entry.parent.mkdir(parents=True, exist_ok=True)
            _write_in_one_step(entry, hashlib.sha256(pickled).digest() + pickled)
            _drop_old_builds(entry)

    def is_warm(self) -> bool:
        """Whether some signature can be loaded."""
        build = self._build(_cpu_target.target_context.codegen())
        return any(self._folder.glob(f"{self._name}-*-{build}.nbc"))

    def enable(self) -> None:
        """Use the cache."""
        self._enabled = True

    def disable(self) -> None:
        """Leave the cache alone."""
        self._enabled = False

    def flush(self) -> None:
        """Forget every build of this kernel."""
        for entry in self._folder.glob(f"{self._name}-*-*.nbc"):
            entry.unlink(missing_ok=True)

    def _entry(self, sig: Any, codegen: Any) -> Path:
        return self._folder / f"{self._name}-{_digest(sig)}-{self._build(codegen)}.nbc"

    def _build(self, codegen: Any) -> str:
        tools = (sys.implementation.cache_tag, numba.__version__, np.__version__)
        options = (int(_config.OPT), _config.BOUNDSCHECK, _config.DEBUGINFO_DEFAULT)
        # Equal sources make a line a name for one function, even among homonyms.
        return _digest((self._sources_digest, self._line, codegen.magic_tuple(), tools, options))


def _callees(library: Any) -> Iterator[tuple[str, tuple[str, str, int], Any]]:
    """Symbol, key and types of arguments of the kernels that compiled code calls where they are."""
    for function in library._final_module.functions:  # noqa: SLF001
        if function.is_declaration and function.name in _in_place:
            dispatcher, arguments = _in_place[function.name]
            yield function.name, dispatcher._cache.key, arguments  # noqa: SLF001


def _without_bitcode(name: str, kind: str, code: tuple[bytes, bytes]) -> tuple[str, str, tuple[bytes, bytes]]:
    """A library that nobody links with: the symbols it defines are all that is asked of its bitcode."""
    defined = [each for each in _llvm.parse_bitcode(code[1]).functions if not each.is_declaration]
    stubs = "".join(f'define void @"{function.name}"() {{ ret void }}\n' for function in defined)
    return name, kind, (code[0], _llvm.parse_assembly(stubs).as_bitcode())


def _is_there(symbol: str, key: tuple[str, str, int], arguments: Any) -> bool:
    """Whether code may call this symbol, after its kernel has been loaded; a kernel compiled anew has another one."""
    if key in _caches:
        _caches[key].dispatcher.compile(arguments)
    return symbol in _in_place


# The kernels of this process, and the sources that it imported them from.
_caches: dict[tuple[str, str, int], KernelCache] = {}
_sources: dict[Path, bytes] = {}
_began = time.time()


def _source(file: Path) -> bytes:
    if file not in _sources:
        source = file.read_bytes()
        if file.stat().st_mtime > _began:
            # A module without kernels was perhaps imported before this text was written. The mark makes
            # it equal to no other text, so that what is compiled now stays with this process.
            source += f"\n# {uuid.uuid4()}\n".encode()
        _sources[file] = source
    return _sources[file]


@cache
def _refresh_once(target_context: Any) -> None:
    """Let a target know its built-ins, as code that is loaded needs it; numba does so again before it compiles."""
    target_context.refresh()


@cache
def _imported(source: bytes, package: str, roots: tuple[tuple[str, Path], ...]) -> list[tuple[str, Path]]:
    """The modules under `roots` that a source imports, with their files."""
    found: list[tuple[str, Path]] = []
    for origin, name in _import_statements(source):
        module = importlib.util.resolve_name(origin, package) if origin.startswith(".") else origin
        # `from a import b` takes the submodule b if there is one, else a name that a's own file binds.
        for candidate in (f"{module}.{name}", module) if name else (module,):
            file = _module_file(candidate, dict(roots))
            if file is not None:
                found.append((candidate, file))
                break
    return found


# An import on lines of its own, up to the bracket that ends it.
_IMPORT: Final = re.compile(rb"^[ \t]*((?:import|from[ \t]+[\w.]+[ \t]+import)\b[^(#\n]*(?:\([^)]*\))?)", re.MULTILINE)


def _import_statements(source: bytes) -> list[tuple[str, str]]:
    """Pairs (module as written, name taken from it or nothing).

    Every process asks this of many sources before its first answer, and to parse a source for a few lines
    takes long: it is done only if the word import is elsewhere, too.
    """
    lines = _IMPORT.findall(source)
    if len(lines) < len(re.findall(rb"\bimport\b", source)):
        return [each for node in ast.walk(ast.parse(source)) for each in _names(node)]
    try:
        return [each for line in lines for node in ast.parse(line).body for each in _names(node)]
    except SyntaxError:  # an import that goes on after a backslash, or a bracket in a comment
        return [each for node in ast.walk(ast.parse(source)) for each in _names(node)]


def _names(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        # Without `as`, `import a.b` binds a, and all that stands between is within reach.
        for alias in node.names:
            parts = alias.name.split(".")
            shortest = len(parts) if alias.asname else 1
            yield from ((".".join(parts[:length]), "") for length in range(shortest, len(parts) + 1))
    elif isinstance(node, ast.ImportFrom):
        yield from (("." * node.level + (node.module or ""), alias.name) for alias in node.names)


def _module_file(module: str, roots: dict[str, Path]) -> Path | None:
    root, *parts = module.split(".")
    if root not in roots:
        return None
    base = roots[root].joinpath(*parts)
    files = (base / "__init__.py", base.parent / f"{base.name}.py")
    return next((file for file in files if file.is_file()), None)


def _digest(value: object) -> str:
    data = value if isinstance(value, bytes) else repr(value).encode()
    return hashlib.sha256(data).hexdigest()[:24]


def _write_in_one_step(file: Path, data: bytes) -> None:
    """Write so that a reader sees all of it or nothing, however many processes write."""
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.stem)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _drop_old_builds(entry: Path) -> None:
    same_signature = entry.name.rpartition("-")[0]
    builds = sorted(entry.parent.glob(f"{same_signature}-*.nbc"), key=lambda file: file.stat().st_mtime)
    for old in builds[:-KEPT_BUILDS]:
        old.unlink(missing_ok=True)


@cache
def _private_temporary_folder() -> Path:
    """A folder that nobody else can have put code into."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir(), f"graphtide-{user}", "kernels")
    with contextlib.suppress(OSError):
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        status = folder.parent.lstat()
        if status.st_uid == user and not status.st_mode & 0o022:
            folder.mkdir(exist_ok=True)
            return folder
    return Path(tempfile.mkdtemp(prefix="graphtide-"))
