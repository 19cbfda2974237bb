"""Benchmark the store at scale: `python -m benchmarks.store`. The import worker process re-runs only this file."""

if __name__ == "__main__":
    from benchmarks.store.running import main

    main()
