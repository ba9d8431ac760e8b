"""What runs between a lane and the program of a trial that is kept apart.

`launch`, `container` and `placing` are programs of their own. Like the guard and its lanes, they
import neither asyncio nor the rest of fairtrial, so they start fast and stay small.
"""
