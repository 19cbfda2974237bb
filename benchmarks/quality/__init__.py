"""Extraction quality on labelled data sets: one module per set, run by `python -m benchmarks.quality SET`."""
