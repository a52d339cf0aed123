"""PyTorch: what computes with its tensors. Loaded when the first of them is an operand."""
