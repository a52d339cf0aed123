"""The cost model: how long array calls take, to choose among them and to tell."""
