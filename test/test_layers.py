# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The rooms of the package: imports run downwards only, and each foreign library has one home.

The source is read, not run, so that imports inside functions and for type checkers count as well;
where a module imports by name, so does every name of a module that it spells out.
"""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest
from support.repository import ROOT

PACKAGE = "uk_dynamics"
# Where the modules of a package are, and what stands before their names here.
STUDIES = "uk_dynamics_studies"
PACKAGES = {PACKAGE: (PACKAGE, ""), STUDIES: (f"studies/{STUDIES}", "studies")}

# From bottom to top: a room imports only from rooms listed before it. Rooms are folders, and the
# files beside them; the empty name is the package itself, the names it offers. A folder without a
# line here belongs to the folder that holds it.
ROOMS = (
    *(
        "arrays",
        "colours",
        "did_you_mean",
        "escaping",
        "exceptions",
        "resources",
        "threads",
        "whole_file",
    ),
    *("core/linalg", "core/tree", "core/contact"),
    *("core/equation", "core/equation/published", "core/recursion"),
    *("core/servo", "core/integration", "core"),
    *("model/urdf", "model/kinematics", "model"),
    *("constraints/expressions", "constraints/references", "constraints/rows"),
    *("constraints/kinds", "constraints/kinds/frames", "constraints/kinds/joints"),
    *("constraints/kinds/pairs", "constraints"),
    "forces",
    *("mechanism/files", "mechanism/resolution", "mechanism/dynamics"),
    "mechanism/contact",
    *(
        "mechanism/standing_contacts",
        "mechanism/uncertain_bodies",
        "mechanism/uncertainty",
        "mechanism/task_checks",
        "mechanism/tasks",
    ),
    *("mechanism/assembly", "mechanism/kinematics", "mechanism/analysis", "mechanism"),
    *("compilation/trace", "compilation/derivatives", "compilation/emit/layout"),
    *("compilation/emit", "compilation/build"),
    *("compilation/verification", "compilation/runtime", "compilation/gpu", "compilation"),
    *("derivatives", "mechanism_class", "planning"),
    *("simulation/recording", "simulation/plots", "simulation"),
    *("control/limits", "control/estimation", "control", "control/servo"),
    "identification",
    "",
    "checks",
    *("conversion/output_files", "conversion/ros2_control_files", "conversion/controller_package"),
    *("conversion/robot", "conversion/graph", "conversion/mjcf", "conversion/sdf"),
    *("conversion/usd", "conversion/export", "conversion/drafting", "conversion"),
    *("viewing/scene", "viewing/layouts", "viewing"),
    *("workspace", "sweeps"),
    *("cli/options", "cli/output", "cli/commands", "cli/analysis", "cli/conversions"),
    *("cli/identification", "cli", "__main__"),
    *("ros/parameters", "ros/timing", "ros/diagnostics", "ros/topics", "ros/process"),
    *("ros/simulation", "ros/servo", "ros/nodes", "ros/demo", "ros/introspection", "ros"),
    # a distribution of its own
    *("studies/benchmarks/peers", "studies/benchmarks", "studies/papers/output"),
    *("studies/papers/de_falco", "studies/papers/orsino", "studies/papers/parallel"),
    *("studies/papers/review", "studies/papers/servo", "studies/papers/iftomm", "studies/papers"),
    *("studies/commands", "studies"),
)
FILES = (*ROOMS[:8], "mechanism_class", "__main__")
RANK = {room: rank for rank, room in enumerate(ROOMS)}
LARGEST_FOLDER = 16  # modules, __init__ not counted

# Libraries that only some rooms may know; the first of several is the home.
HOME = {
    "pinocchio": ("model", "studies/benchmarks/peers/pinocchio"),  # its solvers are measured, too
    "eigenpy": ("model",),
    "urdf_parser_py": ("model",),
    "xacro": ("model",),
    "mujoco": ("conversion", "studies/benchmarks"),
    "pxr": ("conversion",),
    "pydrake": ("studies/benchmarks",),
    "cupy": ("compilation",),
    "viser": ("viewing",),
    "casadi": ("planning",),
    "clarabel": ("control",),
    "crocoddyl": ("planning",),
}
CORE_LIBRARIES = {"numpy", "scipy"}
# Each takes 0.1 to 0.6 s of every start of a node or a command: imported where it is used.
SLOW_LIBRARIES = {
    "matplotlib",
    *(f"scipy.{part}" for part in ("cluster", "integrate", "interpolate", "ndimage", "optimize")),
    *(f"scipy.{part}" for part in ("signal", "sparse", "spatial", "stats")),
}
STANDARD_LIBRARY_ONLY = ("colours", "did_you_mean", "escaping", "exceptions", "resources")
ROS_LIBRARIES = {
    "rclpy",
    "rosidl_runtime_py",
    "tf2_ros",
    "ament_index_python",
    "builtin_interfaces",
    "launch",
    "launch_ros",
}
ROS_SUFFIXES = ("_msgs", "_srvs", "_interfaces")


class Module:
    """A file of the package and what it imports.

    Attributes:
        name: Dotted name below the package, parts separated by ``/``; that of its folder for an
            ``__init__``, so that of the package's own is empty.
        folder: The same of the folder that it is in.
        is_door: Whether it is an ``__init__``.
    """

    def __init__(self, path: Path, package: Path, prefix: str = "") -> None:
        parts = (*filter(None, [prefix]), *path.relative_to(package).with_suffix("").parts)
        self.is_door = parts[-1] == "__init__"
        self.folder = "/".join(parts[:-1])
        self.name = self.folder if self.is_door else "/".join(parts)
        self.place = str(path.relative_to(package.parent))
        self._path = path

    @cached_property
    def _tree(self) -> ast.Module:
        return ast.parse(self._path.read_text(), self.place)

    @cached_property
    def statements(self) -> list[ast.Import | ast.ImportFrom]:
        """All import statements, wherever they stand."""
        return [
            node for node in ast.walk(self._tree) if isinstance(node, ast.Import | ast.ImportFrom)
        ]

    @cached_property
    def at_the_start(self) -> list[str]:
        """What it imports when it is imported itself: not in a function, nor for types alone."""
        found = []
        for node in self._tree.body:
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.append(node.module)
                found += [f"{node.module}.{alias.name}" for alias in node.names]
        return found

    @cached_property
    def by_name(self) -> list[tuple[int, str]]:
        """Line and dotted name of modules whose names are data of a module that imports by name."""
        calls = (n.func for n in ast.walk(self._tree) if isinstance(n, ast.Call))
        called = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
        if not called & {"import_module", "__import__"}:
            return []
        return [
            (node.lineno, node.value)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(rf"({'|'.join(PACKAGES)})(\.\w+)+", node.value)
        ]

    @cached_property
    def offered(self) -> set[str]:
        """Names that it imports or defines."""
        names = {alias.asname or alias.name for node in self.statements for alias in node.names}
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return names

    @property
    def room(self) -> str:
        """The innermost room that it is in."""
        place = self.name
        while place not in RANK and place:
            place = place.rpartition("/")[0]
        return place

    def __repr__(self) -> str:
        return self.place


class Source:
    """All modules below ``root/uk_dynamics``, and of the studies, by name."""

    def __init__(self, root: Path) -> None:
        found = [
            Module(path, root / place, prefix)
            for place, prefix in PACKAGES.values()
            for path in sorted((root / place).rglob("*.py"))
        ]
        self.modules = {module.name: module for module in found}
        missing = {module.folder for module in found} - self.modules.keys()
        assert not missing, f"without __init__.py: {missing}"

    def imports(self, module: Module) -> Iterator[tuple[int, str, Module | None, Module | None]]:
        """What a module imports.

        Yields:
            Line, dotted name, and for a module of the package: the module that is named, and the
            one that the name comes from, through the ``__init__`` that hands it on.
        """
        for line, dotted in module.by_name:
            named = self._find(dotted)
            yield line, dotted, named, named
        for node in module.statements:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    named = self._find(alias.name)
                    yield node.lineno, alias.name, named, named
                continue
            assert node.module, f"{module}:{node.lineno}: imports are absolute"
            for alias in node.names:
                named = self._find(f"{node.module}.{alias.name}") or self._find(node.module)
                yield node.lineno, node.module, named, self._origin(named, alias.name)

    def _find(self, dotted: str) -> Module | None:
        package, _, rest = dotted.partition(".")
        if package not in PACKAGES:
            return None
        parts = [PACKAGES[package][1], *rest.split(".")]
        return self.modules.get("/".join(filter(None, parts)))

    def _origin(self, module: Module | None, name: str) -> Module | None:
        """The module that a name which another one offers comes from."""
        if module is None or not module.is_door:
            return module
        for node in module.statements:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if name == (alias.asname or alias.name):
                        inner = self._find(f"{node.module}.{alias.name}") or self._find(node.module)
                        return self._origin(inner, alias.name)
        return module

    def graph(self) -> dict[Module, set[Module]]:
        """The modules that each module needs, itself left out."""
        needs = {module: set[Module]() for module in self.modules.values()}
        for module, needed in needs.items():
            needed |= {origin for *_, origin in self.imports(module) if origin} - {module}
        return needs

    def objections(self) -> list[str]:
        """One line per import that the order of rooms or a library's home does not allow."""
        return [
            f"{module}:{line}: {reason}"
            for module in self.modules.values()
            for line, dotted, named, _ in self.imports(module)
            if (reason := objection(module, dotted, named))
        ]

    def past_the_door(self) -> list[str]:
        """One line per name that a module takes from another room, past what a folder hands on.

        Within a room modules import each other directly, so that a command loads what it needs and
        no more; the package itself loads its public names late.
        """
        return [
            f"{module}:{node.lineno}: {node.module} does not hand on {alias.name}"
            for module in self.modules.values()
            for node in module.statements
            if module.name and isinstance(node, ast.ImportFrom)
            for alias in node.names
            if not self._is_handed_on(module, node.module or "", alias.name)
        ]

    def _is_handed_on(self, module: Module, dotted: str, name: str) -> bool:
        named = self._find(dotted)
        if named is None or not named.folder:  # a library, or a file beside the rooms
            return True
        if named.folder.split("/")[0] == module.folder.split("/")[0]:
            return True
        return named.is_door and name in named.offered

    def circle(self) -> list[Module]:
        """Modules that import each other in a circle, the first one again at the end."""
        try:
            graphlib.TopologicalSorter(self.graph()).prepare()
        except graphlib.CycleError as error:
            return list(reversed(error.args[1]))
        return []

    def mutual_siblings(self) -> set[tuple[str, str]]:
        """Pairs of folders in one folder whose files, however deep inside, import each other."""
        pairs = {
            siblings(module.folder, other.folder)
            for module, needed in self.graph().items()
            for other in needed
        }
        return {(a, b) for a, b in pairs if a < b and (b, a) in pairs}

    def crowded(self) -> dict[str, int]:
        """Number of modules of the folders that have too many."""
        sizes = Counter(module.folder for module in self.modules.values() if not module.is_door)
        return {folder: size for folder, size in sizes.items() if size > LARGEST_FOLDER}


def is_within(folder: str, outer: str) -> bool:
    """Whether a folder, or a file's name, is another one or inside it."""
    return not outer or f"{folder}/".startswith(f"{outer}/")


def siblings(folder: str, other: str) -> tuple[str, str]:
    """The two folders that are in the same folder and contain these; equal where one has both."""
    path, other_path = folder.split("/"), other.split("/")
    shared = 0
    while path[: shared + 1] == other_path[: shared + 1] and shared < len(path):
        shared += 1
    if shared in (len(path), len(other_path)) or "" in (folder, other):
        return folder, folder
    return "/".join(path[: shared + 1]), "/".join(other_path[: shared + 1])


def is_ros(library: str) -> bool:
    """Whether a library comes with ROS."""
    return (
        library in ROS_LIBRARIES or library.startswith("launch") or library.endswith(ROS_SUFFIXES)
    )


def objection(module: Module, dotted: str, named: Module | None) -> str:
    """Why an import is not allowed; empty when it is."""
    library, room = dotted.partition(".")[0], module.room
    standard = library in sys.stdlib_module_names
    if library in PACKAGES:
        if named is None:
            return f"there is no {dotted}"
        if named.room != room and RANK[named.room] >= RANK[room]:
            return f"{room or PACKAGE} imports {named}, which is not below it"
    elif is_ros(library) and not is_within(room, "ros"):
        return f"{dotted} is for uk_dynamics/ros only"
    elif library in HOME and not any(is_within(module.name, home) for home in HOME[library]):
        return f"{dotted} is for uk_dynamics/{HOME[library][0]} only"
    elif is_within(room, "core") and not (library in CORE_LIBRARIES or standard):
        return f"uk_dynamics/core takes arrays and needs no {dotted}"
    elif room in STANDARD_LIBRARY_ONLY and not standard:
        return f"uk_dynamics/{room}.py needs no {dotted}"
    return ""


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(ROOT)


def test_imports_run_downwards(source: Source) -> None:
    assert source.objections() == []


def test_what_takes_long_to_import_waits_until_it_is_used(source: Source) -> None:
    # who identifies needs them in any case
    early = {
        f"{module}: {dotted}"
        for module in source.modules.values()
        if not module.name.startswith(("identification", "studies"))
        for dotted in module.at_the_start
        if any(dotted == name or dotted.startswith(f"{name}.") for name in SLOW_LIBRARIES)
    }
    assert early == set()


def test_every_part_of_the_package_has_its_room(source: Source) -> None:
    tops = {module.name.partition("/")[0] for module in source.modules.values()}
    assert tops <= RANK.keys()


def test_the_map_shows_every_room() -> None:
    told = (ROOT / "docs" / "architecture.md").read_text()
    for room in {room.partition("/")[0] for room in ROOMS} - {"", "__main__"}:
        assert f"`{room}/`" in told or f"`{room}.py`" in told, f"architecture.md misses {room}"


def test_files_that_the_map_names_are_there() -> None:
    told = (ROOT / "docs" / "architecture.md").read_text()
    for name in re.findall(r"`([\w/]+/[\w.]+\.(?:py|c))`", told):
        assert any((ROOT / top / name).is_file() for top in (PACKAGE, "")), (
            f"architecture.md names {name}"
        )


def test_every_folder_is_a_room_and_every_room_is_there(source: Source) -> None:
    folders = {module.folder for module in source.modules.values()}
    assert sorted(folders - RANK.keys()) == []
    assert sorted(RANK.keys() - source.modules.keys()) == []


def test_no_module_needs_itself(source: Source) -> None:
    assert source.circle() == []


def test_no_two_folders_side_by_side_import_each_other(source: Source) -> None:
    assert source.mutual_siblings() == set()


def test_a_folder_can_be_overlooked(source: Source) -> None:
    assert source.crowded() == {}


def test_a_room_is_entered_by_its_door(source: Source) -> None:
    assert source.past_the_door() == []


# --- the checks find what they should ------------------------------------------------------------


def place(root: Path, name: str) -> Path:
    """Where a room or a file of this name is."""
    top, _, rest = name.partition("/")
    return root / PACKAGES[STUDIES][0] / rest if top == "studies" else root / PACKAGE / name


def write(root: Path, files: dict[str, str]) -> Source:
    """Make a package with all rooms and some files, text by name."""
    for room in ROOMS:
        if room not in FILES:
            place(root, room).mkdir(parents=True, exist_ok=True)
            (place(root, room) / "__init__.py").touch()
    for name, text in files.items():
        place(root, f"{name}.py").write_text(text)
    return Source(root)


@pytest.mark.parametrize(
    ("file", "statement", "reason"),
    [
        ("core/equation/solve", "from uk_dynamics.model import RobotModel", "not below"),
        ("core/equation/solve", "import uk_dynamics", "not below"),
        ("core/equation/solve", "from uk_dynamics.core.servo import law", "not below"),
        ("core/equation/solve", "import jsonschema", "takes arrays"),
        ("control/servo/law", "from uk_dynamics.ros import nodes", "not below"),
        ("model/frames", "def late():\n    from uk_dynamics import cli", "not below"),
        (
            "model/frames",
            "import importlib\ndef late():\n    importlib.import_module('uk_dynamics.cli')",
            "not below",
        ),
        ("model/frames", "HOME = 'uk_dynamics.cli'\nlate = __import__(HOME)", "not below"),
        ("simulation/stepper", "from uk_dynamics.control import law", "not below"),
        ("cli/run", "from uk_dynamics.ros.simulation import Simulator", "not below"),
        ("cli/run", "from uk_dynamics.model.absent import absent", "there is no"),
        ("mechanism/assembly/closing", "import pinocchio as pin", "uk_dynamics/model only"),
        ("studies/benchmarks/speed", "import pinocchio as pin", "uk_dynamics/model only"),
        ("cli/run", "from uk_dynamics_studies.papers import PAPERS", "not below"),
        ("mechanism/assembly/closing", "from rclpy.node import Node", "uk_dynamics/ros only"),
        ("cli/main", "from sensor_msgs.msg import JointState", "uk_dynamics/ros only"),
        ("cli/main", "import launch.actions", "uk_dynamics/ros only"),
        ("resources", "import numpy", "needs no numpy"),
    ],
)
def test_forbidden_import_is_found(file: str, statement: str, reason: str, tmp_path: Path) -> None:
    source = write(tmp_path, {file: f"import math\n{statement}\n"})
    (found,) = source.objections()
    assert reason in found
    assert file in found


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("model/frames", "HOME = 'uk_dynamics.cli'  # said, not imported"),
        ("ros/nodes/simulator", "import rclpy\nimport uk_dynamics\nfrom uk_dynamics import cli"),
        ("__init__", "from uk_dynamics.mechanism import Tasks"),
        ("studies/papers/falco", "import uk_dynamics as ukd\nfrom uk_dynamics import simulate"),
        ("studies/benchmarks/peers/pinocchio", "import pinocchio"),
        ("model/frames", "import pinocchio\nimport numpy\nfrom uk_dynamics.core import linalg"),
        ("core/equation/solve", "import scipy.linalg\nfrom uk_dynamics.core.linalg import mass"),
    ],
)
def test_usual_imports_are_allowed(file: str, statement: str, tmp_path: Path) -> None:
    assert write(tmp_path, {file: f"{statement}\n"}).objections() == []


def test_a_circle_is_found_through_a_door_and_for_types_only(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        {
            "core/servo/law": "from uk_dynamics.core.servo.types import Gain\n",
            "core/servo/types": "if TYPE_CHECKING:\n    from uk_dynamics.core import Law\n",
            "core/__init__": "from uk_dynamics.core.servo.law import Law\n",
        },
    )
    first, *others = map(str, source.circle())
    assert others[-1] == first
    assert set(others) == {"uk_dynamics/core/servo/law.py", "uk_dynamics/core/servo/types.py"}


def test_siblings_that_import_each_other_are_found_however_deep(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        {
            "core/equation/solve": "from uk_dynamics.core.servo.law import law\n",
            "core/servo/law": "",
            "core/servo/other": "from uk_dynamics.core.equation.published import kkt\n",
            "core/equation/published/kkt": "from uk_dynamics.core.equation.solve import solve\n",
        },
    )
    assert source.mutual_siblings() == {("core/equation", "core/servo")}
    assert source.circle() == []


def test_a_crowded_folder_is_found(tmp_path: Path) -> None:
    assert write(tmp_path, {f"model/part_{n}": "" for n in range(16)}).crowded() == {}
    assert write(tmp_path, {"model/one_more": ""}).crowded() == {"model": 17}


def test_who_does_not_take_the_door_is_found(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        {
            "core/servo/law": "",
            "core/servo/other": "from uk_dynamics.core.servo import law\n",
            "model/robot": "from uk_dynamics.core.servo import law\n",
            "model/frames": "import uk_dynamics.core.servo\n",
        },
    )
    (found,) = source.past_the_door()
    assert found.startswith(
        "uk_dynamics/model/robot.py:1: uk_dynamics.core.servo does not hand on law"
    )
