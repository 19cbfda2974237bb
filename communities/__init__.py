"""Weekly offline community detection on the knowledge graph."""
