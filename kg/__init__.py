"""Knowledge graph: vocabulary, storage and queries."""
