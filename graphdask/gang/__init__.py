"""Where and how work is done: in this process, or as a gang of tasks on a Dask cluster.

A graph's partitions are built by a gang and stay with it; algorithms run on that gang. When a worker is lost, the
partitions are built again from the graph's lineage on the workers that there are, and the run is started again.
`graphdask.execute` calls the functions of this package.
"""
