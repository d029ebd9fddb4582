# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Height fields of contacts: from files, or as a mechanism file lists them."""

from pathlib import Path

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.rows import HeightField
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.force_specification import HeightData
from uk_dynamics.resources import optional_library, resolve

#: Points of a grid: what C has as a table, and what spheres are rolled over, in seconds.
MOST_HEIGHTS = 257 * 257


def read_height_field(data: HeightData, directory: Path) -> HeightField:
    """The field of a mechanism file, in whose directory relative paths start.

    Raises:
        InputError: There is no such file, or it holds no grid of finite numbers.
    """
    heights, file = data.heights, ""
    if isinstance(heights, str):
        path = resolve(heights, relative_to=directory)
        grid, file = _read(path), f"{path.name}: "
    else:
        long = {len(row) for row in heights}
        if len(long) > 1:
            k = next(k for k, row in enumerate(heights) if len(row) != len(heights[0]))
            problem = f"row {k} has {len(heights[k])} heights, row 0 has {len(heights[0])}"
            raise InputError(f"{problem}; a grid has as many in all rows")
        grid = np.array(heights, dtype=float)
    if grid.ndim != 2 or min(grid.shape) < 2 or grid.size > MOST_HEIGHTS:
        found = " × ".join(map(str, grid.shape))
        wanted = f"expected a grid of 2 × 2 to {MOST_HEIGHTS} heights, a row for each y"
        raise InputError(f"{file}{wanted}, found {found}")
    if not np.isfinite(grid).all():
        row, column = np.argwhere(~np.isfinite(grid))[0].tolist()
        raise InputError(
            f"{file}row {row}, column {column} is {grid[row, column]}; give a height in m"
        )
    return HeightField(data.scale * grid, data.size)


def _read(path: Path) -> Array:
    """The numbers of a file; pictures are from 0, black, to 1, and have their last row first."""
    try:
        if path.suffix == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), dtype=float)
        if path.suffix == ".csv":
            return np.loadtxt(path, delimiter=",", ndmin=2)
        if path.suffix == ".png":
            remedy = "a picture needs matplotlib: pip install matplotlib; or give a .npy file"
            grey = np.asarray(optional_library("matplotlib.image", remedy).imread(path), float)
            return grey[::-1] if grey.ndim == 2 else grey[::-1, :, :3].mean(axis=2)
    except (OSError, ValueError, TypeError, SyntaxError) as error:
        raise InputError(f"{path.name} holds no grid of numbers: {error!s:.100}") from None
    raise InputError(f"{path.name}: expected a file .npy, .csv or .png")
