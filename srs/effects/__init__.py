"""Effects of features on the natural scale, with confidence intervals.

`kinds` says what an effect is, `registry` which kind of target has which, one file has one model.
Covers estimates and profiles of single features; which features are relevant is for
`srs.inference`.
"""
