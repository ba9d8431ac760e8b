"""Level `none`: programs run on the host itself, and nothing of them outlives their call.

The runner (`client`, `links`, `outcome`) starts one *guard* process, which forks *lanes*; a lane
runs one program at a time. Guard and lanes are child subreapers: the kernel hands them every
orphan, also one that left its process group and session, so all of it can be found and killed.
What runs in those two processes (`guard`, `lane`, `program`, `spawn`, `descendants`, `wire`)
imports neither asyncio nor the rest of fairtrial, so they start fast and stay small.
"""
