"""What sound is in here: float32, nominally within ±1, at ``RATE``; (n,) for one channel, (n, c) for several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE = 24_000
