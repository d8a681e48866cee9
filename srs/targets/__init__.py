"""Kinds of target: how values are parsed, what trees learn, how a target is described.

Where targets come from (columns, files, tables of samples) is `srs.ingest.tables`.
"""
