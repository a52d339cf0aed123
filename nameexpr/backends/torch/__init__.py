"""The PyTorch backend. It is loaded for the first operand that is a tensor of PyTorch."""
