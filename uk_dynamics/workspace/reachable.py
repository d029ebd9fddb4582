# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The reachable set of a frame, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from uk_dynamics.mechanism.kinematics import ForceEnvelope, Kind
from uk_dynamics.mechanism.resolution import Array


@dataclass(frozen=True, eq=False)
class Locus:
    """Singular configurations of one kind."""

    kind: Kind  # ``loops``, ``motors`` (parallel) or ``task`` (serial)
    q: Array  # configurations, (n, nq)
    places: Array  # of the frame there, (n, 3), in m


@dataclass(frozen=True, eq=False)
class ReachableSet:
    """Closed configurations that were reached, and what holds at each."""

    mechanism: str  # name of the mechanism
    frame: str  # name of the frame
    positions: tuple[str, ...]  # names of the coordinates of q
    q: Array  # configurations, (K, nq); the last ones are those furthest along each axis
    places: Array  # of the frame, (K, 3), in m
    rotations: Array  # of the frame, (K, 3, 3)
    measures: dict[Kind, Array]  # distance to singular configurations, (K,) each, by kind; 0 at one
    loci: tuple[Locus, ...]  # singular configurations that were found
    # envelope of forces at each configuration; None where motors have no limits
    forces: tuple[ForceEnvelope, ...] | None
    torques: tuple[ForceEnvelope, ...] | None  # likewise of torques, of a frame that turns
    notes: tuple[str, ...]  # why something is missing, one line each

    @property
    def extent(self) -> Array:
        """Least and largest x, y, z of the frame, (2, 3), in m."""
        return np.stack([self.places.min(axis=0), self.places.max(axis=0)])

    @property
    def regularity(self) -> Array:
        """The smallest of the measures, (K,)."""
        found: Array = np.min(list(self.measures.values()), axis=0)
        return found

    def columns(self) -> dict[str, Any]:
        """A table: a row for each configuration that was reached, then for each singular one."""
        loci = [(locus, k) for locus in self.loci for k in range(len(locus.q))]
        count = len(self.q)
        blank = np.full(len(loci), np.nan)
        q = np.vstack([self.q, *(locus.q for locus in self.loci)])
        places = np.vstack([self.places, *(locus.places for locus in self.loci)])
        turns = np.vstack(
            [Rotation.from_matrix(self.rotations).as_quat(), np.full((len(loci), 4), np.nan)]
        )
        table: dict[str, Any] = {
            "singular": np.array([""] * count + [locus.kind for locus, _ in loci]),
            **dict(zip(("x", "y", "z"), places.T, strict=True)),
            **dict(zip(("qx", "qy", "qz", "qw"), turns.T, strict=True)),
        }
        table |= {f"measure_{kind}": np.append(x, blank) for kind, x in self.measures.items()}
        for what, envelopes in (("force", self.forces), ("torque", self.torques)):
            if envelopes is None:
                continue
            table[f"{what}_guaranteed"] = np.append([e.guaranteed for e in envelopes], blank)
            table[f"{what}_largest"] = np.append([_largest(e) for e in envelopes], blank)
        return table | {f"q.{name}": q[:, k] for k, name in enumerate(self.positions)}


def _largest(envelope: ForceEnvelope) -> float:
    norms: NDArray[np.float64] = np.linalg.norm(envelope.vertices, axis=1)
    return float(norms.max(initial=0.0))
