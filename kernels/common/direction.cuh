// Whether a search is to pull its next level. graphdask.kernels.common.direction has the same rule and says what it is
// given; graphdask.engine.direction explains it.
#pragma once

#define GD_ALPHA 15.0
#define GD_BETA 18.0

__device__ __forceinline__ bool gd_is_pull_due(bool pulls, double found, double edges, double before, double unexplored,
                                               double vertices) {
    return pulls ? found * GD_BETA >= vertices || found > before
                 : edges * GD_ALPHA > unexplored && edges * GD_BETA > vertices;
}
