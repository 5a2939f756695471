"""Graph, and how it is made from arrays, files and the objects of other libraries."""
