"""Formats: what a source may be, and how it is opened; `registry` finds the one of a source.

`arrays`, `tables` and `domains` (formats of a field of science) hold the readers, each with its
descriptors at its end. `catalogue` names all descriptors; `make generate` copies them to
formats.json, so that a list of formats costs no import of what reads them.
"""
