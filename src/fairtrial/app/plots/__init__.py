"""What the pictures of `--plot` show: from a report to intervals, bars and curves."""
