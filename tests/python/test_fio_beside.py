"""A few jobs in fio and in FlashWatt, where fio is installed. `tools/fio_beside.py` compares 200.

The engine's tests have streams of fio's as data.
"""

import random
import shutil
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import fio_beside


@pytest.mark.filterwarnings("default")  # the warning is to be seen, and not to fail
def test_drawn_jobs_are_those_of_fio(tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        warnings.warn("fio is not installed: NO STREAM WAS COMPARED WITH FIO'S (apt-get install fio)", stacklevel=1)
        pytest.skip("fio is not installed: no stream was compared with fio's")
    draw = random.Random(7)
    for text in [fio_beside.drawn_job(draw) for _ in range(3)]:
        result, why = fio_beside.compare(text, tmp_path, [])
        assert result in ("equal", "refused"), f"{text}\n{why}"
