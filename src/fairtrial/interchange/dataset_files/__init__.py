"""Dataset files, in and out: JSONL, JSON, CSV, TSV and YAML."""
