"""The forms that a text takes on its way: typed expression, graph, program; and what programs keep to."""
