"""The measurements lie beside the package, not in it; an installed nsstore stays first on the path."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
