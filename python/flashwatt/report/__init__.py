"""The result of a run: typed sections, the check of files from outside, tables and pages, comparisons."""

from flashwatt.report.report import Report

__all__ = ["Report"]
