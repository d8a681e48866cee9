"""What a run will cost: pairs, first batches, what follows the trees (see `srs.selection.plan`)."""
