"""The filter language: text to a checked expression. It knows no SQL and no store."""
