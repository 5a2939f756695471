"""Connected components by hooking, and strong components."""
