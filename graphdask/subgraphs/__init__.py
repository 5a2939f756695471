"""Parts of a graph with all their edges: by vertices, by hops, cores and trusses."""
