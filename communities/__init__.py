"""communities: the graph, once a week, offline."""
