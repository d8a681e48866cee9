"""Commands that write what a run has found: tables, values, predictions."""
