// Tail of an operator's kernel (dslash.h) in a solver: before the result at a site is stored, it is
// combined with another field and added to sums. This saves a pass over the fields.
//
// Statements and terms of the sums name complex numbers of a site:
//     m    result of the operator
//     x    the field that the operator adds to, if there is one
//     z    another field, which may be the output
//     out  the number to store; m to begin with
//
// The workload's macros: those of solver_update.h, TUNE_Z if there is another field,
// TUNE_STATEMENTS.
//
// A kernel with a tail keeps all threads to its end, and calls
//     apply_tail      for each source at a site, before it is stored
//     end_of_source   of solver_update.h, or end_of_sources of source_sums.h, by all threads
#pragma once
#include "solver_update.h"

struct tail_args {
    guard_args guard;
    const stored_t* z;
    const f32* z_norms;
};

// Applies the statements at a site. out_reals holds m and becomes out; start is the first site of
// the source's field.
template <int N>
FUNCTION void apply_tail(const tail_args& a, u32 source, u64 start, u32 index,
                         const real_t (&x_reals)[N], real_t (&out_reals)[N], kernel_sums& sums)
{
    const solver_state* const state = a.guard.states + source;
    real_t z_reals[N] = {};
    if constexpr (TUNE_Z) load_site(a.z + start * N, a.z_norms + start, index, z_reals);
    TUNE_SCALARS(TAKE_SCALAR)
    UNROLL
    for (int c = 0; c < N; c += 2) {
        const complex<real_t> m{out_reals[c], out_reals[c + 1]}, x{x_reals[c], x_reals[c + 1]},
            z{z_reals[c], z_reals[c + 1]};
        complex<real_t> out = m;
        TUNE_STATEMENTS;
        TUNE_ADD(TAKE_SUM)
        out_reals[c] = out.real;
        out_reals[c + 1] = out.imag;
        (void)x, (void)z;
    }
    (void)state, (void)sums;
}
