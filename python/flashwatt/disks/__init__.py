"""Disks that others have described: DiskSim's parameter files, and descriptions in JSON.

convert ─ a file in, a configuration out ─▶ disksim, description ─ what a disk is ─▶ settings ─ keys ─▶ text
"""
