"""A few human labels and many judge verdicts, put together without the judge's bias."""
