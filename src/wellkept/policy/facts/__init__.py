"""What of a message is durably true of somebody, and what it does to what was known."""
