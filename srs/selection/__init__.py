"""Select the relevant features of a store: `select`, `plan`, `check` and `SRSSelector`.

`select` runs the loop of `srs.engine` and makes a `Result`; `plan` says before what it will cost;
`feature_sets` tests features together; `groups` says which relevant features stand in for one
another.
"""
