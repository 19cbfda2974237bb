"""kg: the words, the memory and the questions."""
