"""Commands that say how far to trust an installation, a selection or a run; and the demo."""
