# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The zoo: public models with closed loops, next to the repository and not part of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from support.repository import ROOT
from support.zoo.maximal import WORLD, Joint, Pose, Reading
from support.zoo.reading_mujoco import MujocoReading
from support.zoo.reading_sdf import read_sdf
from support.zoo.reading_urdf import read_urdf
from support.zoo.reading_usd import read_usd

#: Where it is: a folder per model. ``UK_DYNAMICS_ZOO`` names another place.
FOLDER = Path(os.environ.get("UK_DYNAMICS_ZOO", ROOT.parent / "shared" / "zoo"))

#: Of accelerations, relative to the largest one: rounding times conditions of up to 1e6.
SAME = 1e-9


@dataclass(frozen=True)
class Model:
    """A file, and what is known of it from elsewhere."""

    file: str
    closed_by: str  # what in the file closes its loops
    mobility: int = -1  # floating bodies count
    remark: str = ""
    refused: str = ""  # a pattern of the only line, where it is not read
    apart: bool = False  # links are drawn in a heap, and joints bring them together
    fixed: bool = False  # the root is held by the option of the import
    floats: bool = False  # a URDF whose root is not held
    same: float = SAME
    reason: str = ""  # why accelerations agree to less than rounding
    lost: tuple[str, ...] = ()  # joints of loops whose springs the import says it leaves out
    rank: float = 1e-9  # of the independent reading: see Reading.rank
    span: float = 5.0  # s of simulation in CI, less where 5 s take long
    drift: float = 1e-8  # of energy, relative to the largest kinetic one
    states: int = 5  # in CI

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    def read(self) -> Reading | MujocoReading:
        """By other means than the package's."""
        if self.path.suffix == ".xml":
            return MujocoReading(self.path)
        if self.path.suffix == ".usda":
            return read_usd(self.path)
        if self.path.suffix == ".sdf":
            found = read_sdf(self.path, apart=self.apart)
            if self.fixed:
                root = next(iter(found.bodies))
                found.joints.append(Joint("root", "fixed", WORLD, root, found.drawn[root], Pose()))
        elif self.path.suffix == ".yaml":
            found = read_urdf(next(self.path.parent.glob("*.urdf")))
        else:
            found = read_urdf(self.path, floats=self.floats)
        found.rank = self.rank
        found.joints = [
            replace(joint, spring=(0.0, 0.0)) if joint.name in self.lost else joint
            for joint in found.joints
        ]
        return found


_ROUNDED = "pins of one loop are parallel only to 4e-6 in the file, whose angles are rounded"

MODELS = (
    Model("gepetto_5bar_linkage/robot.yaml", "6d", 3, span=0.5),
    Model("gepetto_5bar_linkage_iso6d/robot.yaml", "6d", 2),
    Model("gepetto_cassie_like/robot.yaml", "2 6d", 7, span=0.2),
    Model("gepetto_digit_like_2legs/robot.yaml", "6 6d", 12, span=0.1),
    Model(
        "gepetto_disney_robot/robot.yaml",
        "6 6d",
        refused='robot.yaml: joint_name: no joint "left_spherical_free_foot"; did you mean',
        remark="the YAML and the URDF spell a joint differently (a ĥ)",
    ),
    Model(
        "gepetto_true_talos_2_legs/robot.yaml",
        "2 3d, 6 mimic",
        34,
        span=0.1,
        remark="limits of leg_*_shin_joint forbid the closure: left out",
    ),
    Model("mjcf_cassie/cassie.xml", "4 connect", 22, span=0.05),
    Model("mjcf_cassie/scene.xml", "4 connect", 22, span=0.0, remark="includes cassie.xml"),
    # Its links turn as evenly as one wheel: four steps take the 5 s, through flat configurations,
    # and what rounding makes of each differs between processors (1e-11 to 2e-8 seen).
    Model("mjcf_genesis_four_bar/four_bar_linkage.xml", "connect", 1, drift=1e-7),
    Model("mjcf_genesis_four_bar/four_bar_linkage_weld.xml", "weld", 0),
    Model("mjcf_mujoco_equality_tests/connect.xml", "3 connect", 9),
    Model(
        "mjcf_mujoco_equality_tests/constraints.xml",
        "tendon",
        refused="constraints.xml: Error: joint 'joint5' in tendon 1, wrap 1 must be slide or hinge",
        remark="MuJoCo 4 refuses it in these words",
    ),
    Model("mjcf_mujoco_equality_tests/equality_site.xml", "connect, 2 weld", 3),
    Model("mjcf_mujoco_equality_tests/equality_site_body_compare.xml", "2 connect, 2 weld", 3),
    Model("mjcf_mujoco_equality_tests/weld.xml", "5 weld", 3),
    Model("mjcf_robotiq_2f85/2f85.xml", "2 connect, joint", 3),
    Model("mjcf_robotiq_2f85/scene.xml", "2 connect, joint", 9, remark="and a free box"),
    Model(
        "mjcf_toddlerbot_2xc/toddlerbot_2xc.xml",
        "4 connect, 9 joint",
        38,
        same=1e-4,
        reason="the file closes its loops to 1e-8 m only, and repeats rows to 1e-8",
        span=0.2,
        remark="imported with a closure tolerance of 1e-7",
    ),
    Model(
        "sdf_cassie/cassie.sdf",
        "6 joints, 10 gearbox",
        refused="right_shin_spring_joint.rz and .* contradict each other",
        remark=f"read and closed, but {_ROUNDED}: it cannot move",
    ),
    Model(
        "sdf_cassie/cassie_v2.sdf",
        "4 joints",
        18,
        rank=1e-4,
        same=1e-7,
        span=0.05,
        reason="the file closes a loop to 4e-9 m only",
    ),
    Model("sdf_drake_four_bar/four_bar.sdf", "none: a bushing in code", 3),
    Model(
        "sdf_drake_four_bar/four_bar_loop.sdf",
        "joint",
        1,
        apart=True,
        remark="draws its links in a heap; comments hold --",
    ),
    Model(
        "sdf_drake_four_bar/four_bar_weld.sdf",
        "drake:weld_constraint",
        1,
        apart=True,
        remark="draws its links in a heap; the prefix drake is not declared",
    ),
    Model(
        "sdf_dvrk_psm/psm.sdf",
        "2 joints",
        refused="link base_link: the inertia is not positive definite: principal moments -0.0024",
        remark="the base floats, as nothing holds it, and its inertia is impossible",
    ),
    Model(
        "sdf_dvrk_psm/psm.sdf",
        "2 joints",
        8,
        fixed=True,
        rank=1e-4,
        same=1e-5,
        lost=("outer_pitch_joint_4",),
        reason=f"{_ROUNDED}, and which of them yields is not said",
        remark="with --fixed; a row of 2e-6 more would make it 7",
    ),
    Model(
        "sdf_dvrk_psm/psm_parallel.sdf",
        "2 joints",
        14,
        rank=1e-4,
        same=1e-5,
        lost=("outer_pitch_joint_4",),
        reason=f"{_ROUNDED}, and which of them yields is not said",
        remark="8 and the floating base; the spring of a loop's joint is left out, as is said",
    ),
    Model("sdf_gz_delta/model.sdf", "5 ball", 15, span=1.0, remark="9 and the floating base"),
    Model("sdf_gz_four_bar/model.sdf", "joint", 1),
    Model(
        "sdf_gz_stewart/stewart_sdf.sdf",
        "5 joints",
        18,
        span=0.5,
        remark="12 and the floating base; axis2 is missing: SDF's 0 0 1",
    ),
    Model(
        "sdf_pr2_gripper/model.sdf",
        "2 screw, 2 revolute, prismatic",
        13,
        span=0.5,
        remark="1, the floating base, and a link without a joint",
    ),
    Model(
        "urdf_abb_irb6640_mimic/irb6640_185_280.urdf",
        "2 mimic",
        refused="the motion is not determined: joint_1, joint_2, .* can accelerate without inertia",
        remark="no link has a mass: kinematics only, mobility 6",
    ),
    Model(
        "urdf_drake_strandbeest/StrandbeestBushings.expanded.urdf",
        "36 bushings",
        7,
        floats=True,
        span=0.02,
        states=1,
        remark="1 and the floating base",
    ),
    Model(
        "urdf_drake_strandbeest/StrandbeestConstraints.expanded.urdf",
        "36 ball",
        7,
        floats=True,
        span=0.02,
        states=1,
        remark="1 and the floating base",
    ),
    Model("urdf_gz_four_bar_split_fixed/model.urdf", "gazebo joint", 1),
    Model("urdfplus_four_bar/four_bar.urdf", "loop", 1),
    Model("urdfplus_mini_cheetah/mini_cheetah.urdf", "12 coupling", 18, span=0.5),
    Model("urdfplus_planar_leg_linkage/planar_leg_linkage.urdf", "loop", 2),
    Model("urdfplus_six_bar/six_bar.urdf", "loop", 3, remark="open and stretched at zero"),
    Model("usda_newton_boxes_fourbar/boxes_fourbar.usda", "joint", 7, remark="1 and floating"),
    Model("usda_newton_boxes_fourbar/boxes_fourbar_examples.usda", "joint", 7),
)
