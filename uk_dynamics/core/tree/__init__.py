# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Articulated bodies and clusters: large mechanisms in linear time."""

from uk_dynamics.core.tree.clusters import Clusters, Tree, TreeInertia
