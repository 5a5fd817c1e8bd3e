// Paths of links on the lattice: their end points and products.
//
// Links here have all 18 reals. Directions and steps are run-time values, so that a plaquette or a
// staple is one short loop instead of unrolled code for each plane.
#pragma once
#include "su3.h"

enum { LINK = 18, DIRECTIONS = 4 };

// Site of the full lattice, with its parity.
struct full_site {
    site at;
    u32 parity;
};

FUNCTION u32 stepped(u32 coordinate, u32 extent, bool forward)
{
    if (forward) return coordinate + 1 == extent ? 0 : coordinate + 1;
    return coordinate == 0 ? extent - 1 : coordinate - 1;
}

// Returns the neighbour in a direction.
FUNCTION full_site moved(full_site p, int direction, bool forward)
{
    u32 x = p.at.x, y = p.at.y, z = p.at.z, t = p.at.t;
    if (direction == 0) x = stepped(x, TUNE_LX, forward);
    if (direction == 1) y = stepped(y, TUNE_LY, forward);
    if (direction == 2) z = stepped(z, TUNE_LZ, forward);
    if (direction == TIME) t = stepped(t, TUNE_LT, forward);
    p.parity = other_parity(p.parity);
    p.at = site_at(x / 2, y, z, t, p.parity);
    return p;
}

// Returns the site of a number; those of parity 0 come first.
FUNCTION full_site full_site_of(u64 number)
{
    const u32 parity = number >= SITES;
    return full_site{site_of(static_cast<u32>(number - static_cast<u64>(parity) * SITES), parity),
                     parity};
}

template <class S>
FUNCTION matrix load_matrix(const S* matrices, u32 index)
{
    real_t one;
    return load_link<LINK, 0>(matrices, index, one);
}

template <class S>
FUNCTION matrix link_at(const S* links, const full_site& p, int direction)
{
    return load_matrix(links_of<LINK>(links, p.parity, direction), p.at.index);
}

// Returns the matrices of one parity, in a field with one matrix a site.
template <class S>
FUNCTION S* matrices_of(S* field, u32 parity)
{
    return field + static_cast<u64>(parity) * SITES * LINK;
}

// ---- algebra ------------------------------------------------------------------------------------
FUNCTION matrix unity()
{
    matrix u;
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) u.element[i][j] = i == j ? 1 : 0;
    }
    return u;
}

FUNCTION void add(matrix& sum, const matrix& a)
{
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) sum.element[i][j] = sum.element[i][j] + a.element[i][j];
    }
}

FUNCTION matrix operator*(const matrix& a, const matrix& b)
{
    matrix r;
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) {
            complex_t sum = a.element[i][0] * b.element[0][j];
            UNROLL
            for (int k = 1; k < 3; k++) sum = multiply_add(sum, a.element[i][k], b.element[k][j]);
            r.element[i][j] = sum;
        }
    }
    return r;
}

FUNCTION matrix adjoint(const matrix& a)
{
    matrix r;
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) r.element[i][j] = conj(a.element[j][i]);
    }
    return r;
}

FUNCTION complex_t trace(const matrix& a)
{
    return a.element[0][0] + a.element[1][1] + a.element[2][2];
}

// Returns the real part of the trace of a b^+.
FUNCTION real_t overlap(const matrix& a, const matrix& b)
{
    real_t sum = 0;
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) {
            sum += a.element[i][j].real * b.element[i][j].real;
            sum += a.element[i][j].imag * b.element[i][j].imag;
        }
    }
    return sum;
}
