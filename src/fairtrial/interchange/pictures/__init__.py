"""Pictures as SVG, drawn here: intervals, bars and curves for exports and `--plot`."""
