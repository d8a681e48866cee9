"""Models of a target given covariates, one file each, fitted by Newton's steps.

`null` says what a null model tells of samples; `newton` is what the fits share.
"""
