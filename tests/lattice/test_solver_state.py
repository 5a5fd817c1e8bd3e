"""The state of a solve is the same struct in the core and in its kernels."""

import re

from both_sides import ROOT, why_not

# The core's is in a namespace: both have the names of phases and limits.
BOTH = """
#include <cstddef>
#include "cubc.h"
#define TUNE_STATE_BYTES CUBC_STATE_BYTES
namespace core {
#include "lattice/operators/solver_state.h"
}
#define WORD(name, bounds) u64 name bounds;
#define REAL(name, bounds) f64 name bounds;
#define COMPLEX(name, bounds) c128 name bounds;
#define TUNE_STATE SOLVER_STATE(WORD, REAL, COMPLEX)
#include "solver.h"
#define MEMBER(name, bounds) \\
    static_assert(offsetof(solver_state, name) == offsetof(core::solver_state, name) && \\
                  sizeof(solver_state::name) == sizeof(core::solver_state::name), #name);
SOLVER_STATE(MEMBER, MEMBER, MEMBER)
static_assert(sizeof(solver_state) == sizeof(core::solver_state));
static_assert(int(MOST_SHIFTS) == core::MOST_SHIFTS && int(MOST_BASIS) == core::MOST_BASIS);
static_assert(int(CA_STEPS) == core::CA_STEPS);
"""


def test_the_core_and_the_kernels_have_the_same_state():
    header = (ROOT / "csrc/lattice/operators/solver_state.h").read_text()
    phases = re.findall(r"\w+", re.search(r"enum solver_phase {(.*?)}", header, re.DOTALL)[1])
    assert len(phases) == 9
    same = [f"static_assert(int({name}) == int(core::{name}));" for name in phases]
    text = BOTH + "".join(same)
    assert not why_not(text, "kernels/dialect", "kernels/lattice/solver")
