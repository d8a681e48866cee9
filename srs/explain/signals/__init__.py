"""Signals of neurons: filters, covariances in pieces of time, direction, transfer entropy.

What the analysis `connectome` is made of (thesis 8.3 and 8.A). Signals are float64 (n_times,
n_neurons), one row a time.
"""
