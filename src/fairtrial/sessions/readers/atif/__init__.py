"""Trajectories of any agent, as Harbor and others exchange them."""
