"""What is kept of messages that have left the window, and whether it is true to them."""
