"""The commands of the command line, one file for each; loaded by `graphdask.cli` when they are called."""
