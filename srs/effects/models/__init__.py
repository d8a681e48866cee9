"""Models of a target given a feature and covariates, one file each."""
