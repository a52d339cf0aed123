"""From characters to tokens: names, limits, and the language of a text."""
