"""What is inconsistent or wrong in a set of icons."""
