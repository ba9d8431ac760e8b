"""Reads an invoice as JSON on standard input and prints its total: the first version.

It stands in for an agent: where a text leaves it unsure it guesses, with the seed of the trial.
"""

import json
import os
import random
import re
import sys

guess = random.Random(int(os.environ.get("FAIRTRIAL_SEED", "0")))
text = json.load(sys.stdin)["text"]
amounts = [float(found.replace(",", "")) for found in re.findall(r"\$([\d,]+\.\d\d)", text)]
totals = re.findall(r"(?i)\btotal: \$([\d,]+\.\d\d)", text)
if totals:
    print(totals[0].replace(",", ""))
else:
    print(max(amounts) if guess.random() < 0.7 else amounts[-1])
