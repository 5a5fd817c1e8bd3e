// SU(3) and U(3) matrices, stored in full, or as 12, 8 or 13 reals and reconstructed.
//
// 18   all nine elements, row by row
// 12   rows 0 and 1; row 2 is the conjugate of their cross product
// 8    B. Bunk and R. Sommer, "An 8 parameter representation of SU(3) matrices and its application
//      for simulating lattice QCD" (1986), of the matrix with rows 1, 0 and minus 2, which is not
//      singular at unity. Phases are kept as tan(phase / 4), in [-1, 1]: sine and cosine are then
//      rational functions of what is stored. The order: those of elements 10 and minus 20; elements
//      11, 12, 00.
// 13   of U(3): rows 0 and 1, and tan(phase / 4) of the determinant, which multiplies row 2. Fixed
//      point has an unused real behind it, so that sites start on whole words.
//
// Fixed-point links are u16 of lattice.h, 32767 for 1.
#pragma once
#include "lattice.h"
#include "types.h"

// The including kernel defines real_t, the type of the calculation.
typedef complex<real_t> complex_t;

// ---- complex arithmetic in FMA steps ------------------------------------------------------------
// No compiler chooses here (multiply_add of simt.h): a hop has the same bits in a kernel with faces
// as in one without.
//
// Returns sum + a * b.
FUNCTION complex_t multiply_add(complex_t sum, complex_t a, complex_t b)
{
    sum.real = multiply_add(sum.real, a.real, b.real);
    sum.imag = multiply_add(sum.imag, a.real, b.imag);
    sum.real = multiply_subtract(sum.real, a.imag, b.imag);
    sum.imag = multiply_add(sum.imag, a.imag, b.real);
    return sum;
}
// Returns sum + conj(a) * b.
FUNCTION complex_t multiply_add_conj(complex_t sum, complex_t a, complex_t b)
{
    sum.real = multiply_add(sum.real, a.real, b.real);
    sum.imag = multiply_add(sum.imag, a.real, b.imag);
    sum.real = multiply_add(sum.real, a.imag, b.imag);
    sum.imag = multiply_subtract(sum.imag, a.imag, b.real);
    return sum;
}
// Returns a * b.
FUNCTION complex_t product(complex_t a, complex_t b)
{
    return complex_t{multiply_add(-(a.imag * b.imag), a.real, b.real),
                     multiply_add(a.imag * b.real, a.real, b.imag)};
}
// Returns conj(a) * b.
FUNCTION complex_t conj_product(complex_t a, complex_t b)
{
    return complex_t{multiply_add(a.real * b.real, a.imag, b.imag),
                     multiply_subtract(a.real * b.imag, a.imag, b.real)};
}
// Returns conj(a * b - c * d).
FUNCTION complex_t conj_of_difference(complex_t a, complex_t b, complex_t c, complex_t d)
{
    complex_t r{a.real * b.real, -a.real * b.imag};
    r.real = multiply_subtract(r.real, a.imag, b.imag);
    r.imag = multiply_subtract(r.imag, a.imag, b.real);
    r.real = multiply_subtract(r.real, c.real, d.real);
    r.imag = multiply_add(r.imag, c.real, d.imag);
    r.real = multiply_add(r.real, c.imag, d.imag);
    r.imag = multiply_add(r.imag, c.imag, d.real);
    return r;
}
FUNCTION real_t squared(complex_t a) { return multiply_add(a.real * a.real, a.imag, a.imag); }
FUNCTION complex_t scaled(real_t factor, complex_t a)
{
    return complex_t{factor * a.real, factor * a.imag};
}

// ---- matrices -----------------------------------------------------------------------------------
struct matrix {
    complex_t element[3][3];
};
struct colour_vector {
    complex_t c[3];
};

FUNCTION colour_vector operator*(const matrix& u, const colour_vector& v)
{
    colour_vector r;
    UNROLL
    for (int i = 0; i < 3; i++) {
        r.c[i] = product(u.element[i][0], v.c[0]);
        UNROLL
        for (int j = 1; j < 3; j++) r.c[i] = multiply_add(r.c[i], u.element[i][j], v.c[j]);
    }
    return r;
}

// Returns u^+ v.
FUNCTION colour_vector adjoint_times(const matrix& u, const colour_vector& v)
{
    colour_vector r;
    UNROLL
    for (int i = 0; i < 3; i++) {
        r.c[i] = conj_product(u.element[0][i], v.c[0]);
        UNROLL
        for (int j = 1; j < 3; j++) r.c[i] = multiply_add_conj(r.c[i], u.element[j][i], v.c[j]);
    }
    return r;
}

// Computes row 2 of a matrix from the other rows.
FUNCTION void complete_rows(matrix& u)
{
    complex_t(&e)[3][3] = u.element;
    UNROLL
    for (int j = 0; j < 3; j++)
        e[2][j] = conj_of_difference(e[0][(j + 1) % 3], e[1][(j + 2) % 3], e[0][(j + 2) % 3],
                                     e[1][(j + 1) % 3]);
}

// ---- eight numbers ------------------------------------------------------------------------------
// Returns size * exp(i phase), given tan(phase / 4).
FUNCTION complex_t with_phase(real_t size, real_t tangent)
{
    const real_t one = 1, two = 2, six = 6, square = tangent * tangent, four = 4 * tangent;
    const real_t divisor = multiply_add(one, square, multiply_add(two, tangent, tangent));
    const real_t cosine = multiply_add(one, square, multiply_add(-six, tangent, tangent));
    const real_t factor = size * fast_reciprocal(divisor); // of (1 + square)^2
    return complex_t{factor * cosine, factor * multiply_subtract(four, four, square)};
}

// Returns a * b + conj(c * d).
FUNCTION complex_t sum_with_conj(complex_t a, complex_t b, complex_t c, complex_t d)
{
    const complex_t r{multiply_subtract(c.real * d.real, d.imag, c.imag),
                      multiply_subtract(-(c.real * d.imag), d.real, c.imag)};
    return multiply_add(r, a, b);
}

// Reconstructs a matrix from 8 reals. `one` is the unit of all elements except tangents, which have
// tangent_unit.
FUNCTION matrix matrix_of_eight(const real_t (&p)[8], real_t one, real_t tangent_unit)
{
    matrix u;
    complex_t(&a)[3] = u.element[0];
    complex_t(&b)[3] = u.element[1];
    complex_t(&c)[3] = u.element[2];
    b[1] = complex_t{p[2], p[3]};
    b[2] = complex_t{p[4], p[5]};
    a[0] = complex_t{p[6], p[7]};
    // Remainder of the row's norm; rounding may make a zero negative.
    const real_t rest =
        multiply_add(multiply_add(squared(b[1]), b[2].real, b[2].real), b[2].imag, b[2].imag);
    const real_t left =
        multiply_subtract(multiply_subtract(rest, a[0].real, a[0].real), a[0].imag, a[0].imag);
    b[0] = with_phase(fast_root(fabs(one * one - rest)), p[0] * tangent_unit);
    const complex_t first = with_phase(fast_root(fabs(left)), p[1] * tangent_unit);
    // Rows b, a and -c are orthonormal with determinant 1. This gives two linear equations for the
    // rest of a row, with determinant `rest`. `first` is -c0.
    const real_t r = fast_reciprocal(rest);
    const complex_t b1 = scaled(r, b[1]), b2 = scaled(r, b[2]);
    const complex_t with_a = -conj_product(b[0], a[0]);
    const complex_t with_c = conj_product(b[0], first);
    const complex_t one_first = scaled(one, first), one_a = scaled(one, a[0]);
    a[1] = sum_with_conj(with_a, b1, -b2, one_first);
    a[2] = sum_with_conj(with_a, b2, b1, one_first);
    c[0] = -first;
    c[1] = sum_with_conj(with_c, b1, -b2, one_a);
    c[2] = sum_with_conj(with_c, b2, b1, one_a);
    return u;
}

// Returns tan(phase / 4) of a number by half-angle formulas; 0 for 0.
FUNCTION real_t quarter_tangent(complex_t z)
{
    const real_t size = sqrt(squared(z));
    if (!(size > 0)) return 0;
    const real_t cosine = z.real / size, sine = z.imag / size;
    // Cosine and sine of the half angle, which lies in [-pi/2, pi/2]. The root of the larger one is
    // taken, so that neither loses digits.
    real_t half_cosine, half_sine;
    if (cosine >= 0) {
        half_cosine = sqrt((1 + cosine) / 2);
        half_sine = sine / (2 * half_cosine);
    } else {
        half_sine = sqrt((1 - cosine) / 2) * (sine < 0 ? -1 : 1);
        half_cosine = sine / (2 * half_sine);
    }
    return half_sine / (1 + half_cosine);
}

FUNCTION void eight_of_matrix(const matrix& u, real_t (&p)[8])
{
    const complex_t(&e)[3][3] = u.element;
    p[0] = quarter_tangent(e[1][0]);
    p[1] = quarter_tangent(-e[2][0]);
    p[2] = e[1][1].real;
    p[3] = e[1][1].imag;
    p[4] = e[1][2].real;
    p[5] = e[1][2].imag;
    p[6] = e[0][0].real;
    p[7] = e[0][0].imag;
}

// Returns the determinant of a matrix of U(3); that of SU(3) with the same rows 0 and 1 has 1.
FUNCTION complex_t determinant_of(const matrix& u)
{
    matrix special = u;
    complete_rows(special);
    complex_t sum = 0;
    for (int j = 0; j < 3; j++)
        sum = multiply_add_conj(sum, special.element[2][j], u.element[2][j]);
    return sum;
}

// ---- links --------------------------------------------------------------------------------------
// Returns the reals of a link in memory.
template <class S>
FUNCTION constexpr int stored_reals(int reals)
{
    return storage<S>::fixed ? reals + reals % 2 : reals;
}

// Field of links with REALS reals each: 18, 13, 12 or 8. It has the links of parity 0, then of
// parity 1; for each the directions x, y, z, t; for each the sites.
template <int REALS, class S>
FUNCTION S* links_of(S* field, u32 parity, int direction)
{
    return field + static_cast<u64>(parity * 4 + static_cast<u32>(direction)) * SITES *
                       static_cast<u64>(stored_reals<S>(REALS));
}

// Storage type of links in a field of S.
template <class S>
struct link_storage {
    typedef S type;
};
template <>
struct link_storage<i16> {
    typedef u16 type;
};

// Reals of a link as loaded; the matrix is reconstructed where it is used.
template <int REALS>
struct packed_link {
    real_t value[REALS];
};

template <int REALS, int CACHING, class S>
FUNCTION packed_link<REALS> load_packed(const S* links, u32 index)
{
    enum { ALL = stored_reals<S>(REALS) };
    real_of<S> stored[ALL];
    packed_link<REALS> packed;
    load_reals<ALL, 0, ALL, CACHING>(links, index, stored);
    UNROLL
    for (int j = 0; j < REALS; j++) packed.value[j] = static_cast<real_t>(stored[j]);
    return packed;
}

// Returns the factor between a reconstructed link and the matrix: fixed-point links stay in units
// of their integers.
template <class S>
FUNCTION constexpr real_t link_scale()
{
    return storage<S>::fixed ? 1 / static_cast<real_t>(FIXED_ONE) : 1;
}

template <class S, int REALS>
FUNCTION matrix unpacked(const packed_link<REALS>& packed)
{
    const real_t unit = link_scale<S>();
    matrix u;
    if constexpr (REALS == 8) {
        u = matrix_of_eight(packed.value, 1 / unit, unit);
    } else {
        UNROLL
        for (int j = 0; j < REALS / 2; j++)
            u.element[j / 3][j % 3] = complex_t{packed.value[2 * j], packed.value[2 * j + 1]};
        if constexpr (REALS == 12 || REALS == 13) {
            complete_rows(u);
            complex_t factor{unit, 0};
            if constexpr (REALS == 13) factor = with_phase(unit, unit * packed.value[12]);
            UNROLL
            for (int j = 0; j < 3; j++)
                u.element[2][j] =
                    REALS == 13 ? product(factor, u.element[2][j]) : scaled(unit, u.element[2][j]);
        }
    }
    return u;
}

template <int REALS, int CACHING, class S>
FUNCTION matrix load_link(const S* links, u32 index, real_t& scale)
{
    scale = link_scale<S>();
    return unpacked<S>(load_packed<REALS, CACHING>(links, index));
}

template <int REALS, class S>
FUNCTION void store_link(S* links, u32 index, const matrix& u)
{
    enum { ALL = stored_reals<S>(REALS) };
    real_t raw[ALL];
    S out[ALL];
    if constexpr (REALS == 8) {
        eight_of_matrix(u, raw);
    } else {
        UNROLL
        for (int j = 0; j < REALS / 2; j++) {
            raw[2 * j] = u.element[j / 3][j % 3].real;
            raw[2 * j + 1] = u.element[j / 3][j % 3].imag;
        }
        if constexpr (REALS == 13) raw[12] = raw[ALL - 1] = quarter_tangent(determinant_of(u));
    }
    UNROLL
    for (int j = 0; j < ALL; j++) {
        if constexpr (storage<S>::fixed)
            out[j] = static_cast<S>(round_to_fixed(static_cast<f32>(raw[j]), FIXED_ONE) + 32768);
        else
            out[j] = static_cast<S>(raw[j]);
    }
    store_reals(links, index, out);
}
