"""Calibration: parameters of a preset fitted to a table of measurements, rows held out predicted.

`table` reads the measurements, `bench` runs their rows, `fit` finds the values, `identify` says which of them the table
determines, `choices` holds rows out in turn, `written` writes the preset. `calibration` puts them together.
"""

from flashwatt.base.missing import check_library

check_library("scipy", "SciPy", "flashwatt calibrate", "calibrate")
