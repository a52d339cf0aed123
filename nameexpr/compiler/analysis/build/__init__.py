"""From formulas to graphs: values with labels and dtypes, equal values once."""
