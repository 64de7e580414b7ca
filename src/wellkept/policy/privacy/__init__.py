"""What must not be stored, and what must be found again to be erased."""
