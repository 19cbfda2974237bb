"""viz: answers as pictures and pages."""
