"""Quality on labelled text: one module a set, all run by `python -m benchmarks.quality SET`."""
