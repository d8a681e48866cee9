"""The commands of `srs`, one file each; what they share is `srs.cli`."""
