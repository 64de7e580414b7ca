def redact_content(c,k): return c
