"""Tokens to syntax trees: by hand where a text is plain, else by Lark with the tables of the grammar."""
