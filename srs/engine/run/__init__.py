"""Parts of the loop (`srs.engine.loop`), a noun each: its checkpoints, steps, end and time."""
