"""extraction: documents in, facts out."""
