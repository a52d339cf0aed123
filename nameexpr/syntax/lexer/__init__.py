"""Characters to tokens: names, limits, and which of the two languages a text is in."""
