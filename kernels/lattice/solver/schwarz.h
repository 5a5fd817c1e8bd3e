// Scalar step of the preconditioner of GCR. The launches, and the papers, are those of
// csrc/lattice/solver/schwarz.c.
#pragma once
#include "solver.h"

// Computes <w, e> / |w|^2, the step along the residual e of a block that leaves the least of it,
// where w = M e. It is none where nothing is left, as in a block that is far from the source. Other
// ranks do not see this step, so that it does not end a solve. sum: |w|^2, <w, e>.
FUNCTION void schwarz_length(solver_state& s, const f64* sum, u64)
{
    s.block_step = sum[0] > 0 ? c128(sum[1] / sum[0], sum[2] / sum[0]) : c128(0);
}
