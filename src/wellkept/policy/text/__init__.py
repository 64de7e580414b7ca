"""What a text says in itself: its words, language, names, numbers and dates, and how many tokens it takes."""
