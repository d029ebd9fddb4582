# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C source of the joint-state estimation: tables of measured joints, loop rows, Newton steps."""

from uk_dynamics.compilation.emit.c_source import SCALAR
from uk_dynamics.compilation.emit.c_text import header, joined, part, table
from uk_dynamics.compilation.emit.constants import config
from uk_dynamics.compilation.emit.functions import Shapes, function, ones, places, rule
from uk_dynamics.compilation.emit.generate import ONE_STATE
from uk_dynamics.compilation.emit.layout import EncoderLayout, LoopTables
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace
from uk_dynamics.core.servo import reading
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_STATE = ("q", "v")


def completion_declarations(tables: LoopTables) -> str:
    """Sizes and memory."""
    split = tables.split
    sizes = {
        "UK_MEASURED": len(split.measured),
        "UK_OTHERS": len(split.others),
        "UK_HELD": len(tables.held),
        "UK_REDUNDANT": split.conditions,
    }
    lines = [f"#define {name} {value}" for name, value in sizes.items()]
    return header("uk_measured.h", *lines) + part("completion.h")


def completion_definitions(structure: SymbolicTerms, tables: LoopTables) -> str:
    """``uk_complete`` and ``uk_complete_start``; what they need of others is <math.h>."""
    split, held = tables.split, tables.held
    A, psi, rate = structure.A[held], structure.residual[held], structure.rate[held]
    rows = header(
        "uk_loops.h",
        part("attributes.h"),
        '#include "uk_lanes.h"',
        f"#define UK_MOVING {int(tables.moving)}",
        table("int", "uk_measured", split.measured),
        table("int", "uk_other", split.others),
        table("int", "uk_turning", tables.turning),
        table("double", "uk_other_scale", split.scale),
        table("double", "uk_deviation", split.deviation) if split.conditions else "",
        table("double", "uk_held_scale", tables.scale),
        f"#define UK_HOMES {len(tables.homes)}",
        table("double", "uk_homes", tables.homes.ravel()),
        function("uk_loop_rows", _STATE, ("A", "psi"), places(A=A, psi=psi)),
        function("uk_loop_drift", _STATE, ("rate",), places(rate=rate)) if tables.moving else "",
    )
    return header("uk_lanes.h", ONE_STATE) + rows + part("completion.c")


def encoder_source(mechanism: ResolvedMechanism, tables: LoopTables) -> str:
    """C source of ``uk_read_encoders``: a law behind encoders of the measured joints."""
    nv, measured = mechanism.model.nv, len(tables.split.measured)
    arrays = ("position", "velocity", "noise", "last_position", "last_velocity")
    given: Shapes = {**dict.fromkeys(arrays, measured), **ones("elapsed", "resolution", "filter")}
    memory = EncoderLayout(measured, nv).c_struct("uk_encoder_memory")
    return joined(
        header("uk_mechanism.h", f"#define UK_NV {nv}"),
        completion_declarations(tables),
        config(),
        completion_definitions(trace(mechanism), tables),
        header("uk_readings.h", memory, rule("uk_reading", given, "told", reading, SCALAR)),
        part("encoders.c"),
    )
