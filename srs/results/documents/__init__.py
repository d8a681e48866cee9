"""What result.json and explain.json hold: a type for each of their objects.

Docstrings describe each key, one a line. The JSON Schemas in docs/schemas are written from these
types by `make generate`; a change of a type is a change of the schema, see docs/schemas/README.md.
"""
