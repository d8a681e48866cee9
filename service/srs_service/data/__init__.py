"""Data of users: uploads, sources, datasets, checks of what strangers send, and where files are."""
