"""What comes with the samples: their ids, tables to join, targets and covariates."""
