"""Many runs of one study: tasks, executors that run them, the file that keeps their results, and statistics of them.

study ─ the points ─▶ task ─ one run, with an id ─▶ work ─▶ executor ─ workers here, or a cluster
                                                      ╰──▶ journal ─ results.jsonl ─▶ results ─ frames

The folder is not called `sweep`: importing it would replace the function `flashwatt.sweep`.
"""
