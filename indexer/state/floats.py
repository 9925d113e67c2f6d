"""How vectors lie in the database: as little-endian single-precision floats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


def pack_vector(vector: Vector) -> bytes:
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def unpack_vectors(blobs: Sequence[bytes]) -> Vector:
    """The vectors as rows; an empty array of shape (0, 0) for none."""
    if not blobs:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
