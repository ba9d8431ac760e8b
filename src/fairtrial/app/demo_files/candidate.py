"""Reads an invoice as JSON on standard input and prints its total: the version under test.

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
payable = re.findall(r"(?i)(?:due|payable|pay|owe us):? \$([\d,]+\.\d\d)", text)
totals = re.findall(r"(?i)\btotal: \$([\d,]+\.\d\d)", text)
if payable:
    print(payable[-1].replace(",", ""))
elif totals and guess.random() < 0.9:
    print(totals[-1].replace(",", ""))
else:
    print(guess.choice(amounts))
