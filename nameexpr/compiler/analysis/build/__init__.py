"""Formulas to graphs: values with labels and dtypes, equal ones once."""
