"""Snapshots of git repositories, in an object store of fairtrial's own."""
