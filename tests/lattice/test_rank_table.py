"""The memory of ranks has the same layout in the core, which makes it, and in the kernels."""

import re

import pytest
from both_sides import ROOT, why_not

# The core's is in a namespace, as both have some names; its functions are constant expressions.
BOTH = """
#include <cstddef>
#include <cstdint>
#define inline constexpr
namespace core {
#include "lattice/grid/rank_table.h"
}
#undef inline
#include "ranks.h"
"""
SAME = {
    "RANK_FACES": "FACES",
    "RANK_SLOTS": "SLOTS",
    **{name: name for name in ("FLAGS_AT", "MAIL_AT", "MAIL_VALUES", "STAGED_SUMS")},
    **{name: name for name in ("MESSAGE_FACE", "MESSAGE_SUM")},
    "sizeof(rank_table)": "sizeof(core::rank_table)",
    "sizeof(rank_mail)": "sizeof(core::rank_mail)",
    "rank_slot(2, 0)": "rank_slot(2, 0)",
    "rank_slot(7, 1)": "rank_slot(7, 1)",
    "tag_of(5)": "tag_of(5)",
    "tag_of(0x180000000)": "tag_of(0x180000000)",
    "rank_norms_at(5000, 48)": "rank_norms_at(5000, 48)",
    "rank_failure(MESSAGE_SUM, 3, 5)": "rank_failure(2, 3, 5)",
}


def members(struct):
    """The names of a struct's members in the core's header."""
    header = (ROOT / "csrc/lattice/grid/rank_table.h").read_text()
    body = re.search(rf"typedef struct {struct} {{(.*?)}}", header, re.DOTALL)[1]
    return re.findall(r"(\w+)(?:\[\w+\])*[,;]", body)


def assertions():
    for kernels, core in SAME.items():
        yield f"static_assert({kernels} == {core if 'core::' in core else f'core::{core}'});"
    for struct, count in (("rank_table", 16), ("rank_mail", 1)):
        assert len(members(struct)) == count
        for name in members(struct):
            yield (
                f"static_assert(offsetof({struct}, {name}) == offsetof(core::{struct}, {name}) && "
                f"sizeof({struct}::{name}) == sizeof(core::{struct}::{name}));"
            )


def test_the_core_and_the_kernels_have_the_same_memory():
    assert not why_not(BOTH + "\n".join(assertions()), "kernels/dialect", "kernels/grid")


@pytest.mark.parametrize("wrong", ["RANK_SLOTS == core::FACES", "rank_slot(3, 0) == 0"])
def test_a_difference_is_seen(wrong):
    assert "assert" in why_not(BOTH + f"static_assert({wrong});", "kernels/dialect", "kernels/grid")
