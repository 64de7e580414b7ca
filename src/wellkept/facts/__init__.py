"""Facts: what is durably true of a user, across sessions."""
