"""Permutations that analyses compare with: of features and labels, within groups, in stages."""
