"""Values that files bind by an agreed name: how a catalogue finds its entries in a folder.

So an entry is one file and no line elsewhere, and the harness imports no suite and no toxic by name.
"""

import ast
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType


def bound(folder: Path, name: str) -> Iterator[tuple[Path, object]]:
    """What the Python files under ``folder`` bind as ``name`` at their top level, with each file, in order of paths.

    A file that does not bind it is not imported. A file that was imported before is not imported again.

    :raises ImportError: When a file cannot be loaded; what a file raises itself is passed on.
    """
    for path in sorted(folder.rglob("*.py")):
        if binds(path, name):
            yield path, getattr(load_module(path), name)


def binds(path: Path, name: str) -> bool:
    """Whether the file assigns ``name`` at its top level; nothing is imported."""
    return name in _assigned(path.read_text(encoding="utf-8"), str(path))


def load_module(path: Path) -> ModuleType:
    """The module of a file, under the name that an ``import`` of it has, or a name of its own where that is taken."""
    name = module_name(path)
    module = sys.modules.get(name)
    if module is not None and not _is_of(module, path):
        name = "fencepost_file_" + str(path.resolve()).replace("/", "_").removesuffix(".py")
        module = sys.modules.get(name)
    return module or _executed(name, path)


def module_name(path: Path) -> str:
    """The dotted name of a file within the packages (folders with ``__init__.py``) around it."""
    parts = [path.stem]
    for folder in path.resolve().parents:
        if not (folder / "__init__.py").is_file():
            break
        parts.append(folder.name)
    return ".".join(reversed(parts))


@cache
def _assigned(text: str, file: str) -> frozenset[str]:
    """The names; a catalogue is asked several times in a session, and parsing is most of what that takes."""
    targets = (
        target
        for node in ast.parse(text, filename=file).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


def _is_of(module: ModuleType, path: Path) -> bool:
    return Path(module.__file__ or "").resolve() == path.resolve()


def _executed(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
