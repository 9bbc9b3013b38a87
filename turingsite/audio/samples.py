"""What sound is here: float32 at ``RATE``, nominally within ±1; (n,) for one channel, (n, c) for more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE = 24_000
