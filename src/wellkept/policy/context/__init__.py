"""What a model is shown: which parts, how much of each, and in which provider's shape."""
