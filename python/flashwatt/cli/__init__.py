"""The command line: one module for each family of commands, and the modules that they share.

main ─ the group and its exit statuses ─▶ run, trace, sweep, … ─ commands ─▶ delivery ─ a finished report ─▶ terminal
"""
