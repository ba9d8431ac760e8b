"""Level `bwrap`: an overlay of the prepared files, in namespaces of the trial's own."""
