"""What goes wrong in a call, told as errors of ours."""
