"""graphdask as a backend of NetworkX: `networkx.pagerank(G, backend="graphdask")`.

NetworkX finds `graphdask.nx.info` and `graphdask.nx.backend` by the entry points `networkx.backend_info` and
`networkx.backends`. The first is loaded with NetworkX, so it imports nothing; the second with the first call.
"""
