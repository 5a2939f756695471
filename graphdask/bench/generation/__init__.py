"""The parts of `graphdask bench generate`: cases of the suites, timing on devices, other generators, figures."""
