"""The questions that Liantu answers; registry.py lists them."""
