"""Writers of reports on runs of eval tasks: Markdown and HTML."""
