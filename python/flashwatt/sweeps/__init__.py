"""Many runs of one study: tasks, worker processes, the file that keeps their results, and statistics of them.

study ─ the points ─▶ task ─ one run, with an id ─▶ workers ─ processes ─▶ journal ─ results.jsonl ─▶ results ─ frames

The folder is not called `sweep`: importing it would replace the function `flashwatt.sweep`.
"""
