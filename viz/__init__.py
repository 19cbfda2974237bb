"""Render answers as graphs and HTML pages."""
