"""Measurements that anybody can repeat: each is a ratio to a floor in the same run."""
