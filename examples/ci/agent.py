"""Stands in for the agent of your repository."""

import json
import sys

print(json.load(sys.stdin).removeprefix("make it loud: ").upper())
