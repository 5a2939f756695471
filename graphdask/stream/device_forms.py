"""Primitives that stream through a device; importing this module enters them in `forms.ON_DEVICE`."""

from __future__ import annotations

from graphdask.stream import (
    betweenness,
    components,
    device_betweenness,
    device_components,
    device_distances,
    device_nearness,
    device_pagerank,
    device_paths,
    device_programs,
    device_weighted_betweenness,
    device_weighted_nearness,
    distances,
    nearness,
    pagerank,
    paths,
    programs,
    weighted_betweenness,
    weighted_nearness,
)
from graphdask.stream.forms import ON_DEVICE

ON_DEVICE.update(
    {
        betweenness.scores_of: device_betweenness.scores_of,
        betweenness.inner_of: device_betweenness.inner_of,
        components.Components: device_components.DeviceComponents,
        distances.paths_of: device_distances.paths_of,
        nearness.scores_of: device_nearness.scores_of,
        pagerank.StreamedPageRank: device_pagerank.DevicePageRank,
        paths.search_of: device_paths.search_of,
        programs.program_of: device_programs.program_of,
        weighted_betweenness.scores_of: device_weighted_betweenness.scores_of,
        weighted_betweenness.inner_of: device_weighted_betweenness.inner_of,
        weighted_nearness.scores_of: device_weighted_nearness.scores_of,
    }
)
