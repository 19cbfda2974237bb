"""The store at size: `python -m benchmarks.store`. The process that reads rows ahead runs this file and no other."""

if __name__ == "__main__":
    from benchmarks.store.running import main

    main()
