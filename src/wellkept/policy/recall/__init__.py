"""From a question to what answers it: filters, scores, and which candidates become results."""
