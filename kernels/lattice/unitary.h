// Projections to SU(3) and U(3), and updates by SU(2) subgroups.
#pragma once
#include "loops.h"
#include "su2.h"

// ---- Gram-Schmidt -------------------------------------------------------------------------------
FUNCTION void normalise_row(complex_t (&row)[3])
{
    const real_t factor = 1 / sqrt(squared(row[0]) + squared(row[1]) + squared(row[2]));
    UNROLL
    for (int j = 0; j < 3; j++) row[j] = scaled(factor, row[j]);
}

FUNCTION void remove_row(const complex_t (&unit)[3], complex_t (&row)[3])
{
    complex_t along = conj(unit[0]) * row[0];
    UNROLL
    for (int j = 1; j < 3; j++) along = multiply_add_conj(along, unit[j], row[j]);
    UNROLL
    for (int j = 0; j < 3; j++) row[j] = row[j] - along * unit[j];
}

// Orthonormalises the rows: row 0 keeps its direction, row 1 loses its component along row 0, and
// row 2 follows from both.
FUNCTION void orthonormalise(matrix& u)
{
    normalise_row(u.element[0]);
    remove_row(u.element[0], u.element[1]);
    normalise_row(u.element[1]);
    remove_row(u.element[0], u.element[1]); // removes what rounding left if the rows were close
    normalise_row(u.element[1]);
    complete_rows(u);
}

// ---- subgroups ----------------------------------------------------------------------------------
// Subgroups of rows and columns 0 and 1, 0 and 2, 1 and 2: N. Cabibbo and E. Marinari, "A new
// method for updating SU(N) matrices in computer simulations of gauge theories" (1982).
enum { SUBGROUPS = 3 };
FUNCTION constexpr int subgroup_first(int k) { return k == 2 ? 1 : 0; }
FUNCTION constexpr int subgroup_second(int k) { return k == 0 ? 1 : 2; }

// Returns the quaternion q with Re tr(a w) = 2 (a q).scalar for all a of the subgroup, up to a term
// that does not depend on a.
FUNCTION quaternion<real_t> subgroup_part(const matrix& w, int k)
{
    const int i = subgroup_first(k), j = subgroup_second(k);
    const complex_t(&e)[3][3] = w.element;
    const real_t half = static_cast<real_t>(0.5);
    return quaternion<real_t>{half * (e[i][i].real + e[j][j].real),
                              {half * (e[i][j].imag + e[j][i].imag),
                               half * (e[i][j].real - e[j][i].real),
                               half * (e[i][i].imag - e[j][j].imag)}};
}

// Replaces u by a u.
FUNCTION void subgroup_multiply(const quaternion<real_t>& a, matrix& u, int k)
{
    const int i = subgroup_first(k), j = subgroup_second(k);
    const complex_t one{a.scalar, a.vector[2]}, two{a.vector[1], a.vector[0]};
    UNROLL
    for (int c = 0; c < 3; c++) {
        const complex_t upper = u.element[i][c], lower = u.element[j][c];
        u.element[i][c] = multiply_add(one * upper, two, lower);
        u.element[j][c] = multiply_add_conj(-(conj(two) * upper), one, lower);
    }
}

// ---- nearest matrix -----------------------------------------------------------------------------
// Multiplies m by a number of phase pi / 3, of the sign that turns a determinant in the left half
// of the plane towards 1.
FUNCTION void turn(matrix& m, complex_t determinant)
{
    const real_t half = static_cast<real_t>(0.5), root = static_cast<real_t>(0.8660254037844386);
    const complex_t phase{half, determinant.imag < 0 ? root : -root};
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) m.element[i][j] = phase * m.element[i][j];
    }
}

// Returns the SU(3) matrix nearest to m in the Frobenius norm. It maximises Re tr(u m^+) in one
// subgroup after the other until nothing changes. It starts from the Gram-Schmidt result, so that
// among equally near matrices it finds one close to that. Where the determinant of m is in the left
// half of the plane that is far away, and for real matrices a saddle: it starts from a matrix with
// that determinant turned, as the nearest one has about a third of its phase.
FUNCTION matrix nearest(const matrix& m)
{
    enum { MOST_ROUNDS = 500 };
    const real_t still = sizeof(real_t) == 8 ? static_cast<real_t>(1e-30)
                                             : static_cast<real_t>(1e-12); // square of an angle
    matrix u = m;
    const complex_t determinant = determinant_of(m);
    if (determinant.real < 0) turn(u, determinant);
    orthonormalise(u);
    matrix w = u * adjoint(m);
    real_t moved = 1;
    for (int round = 0; round < MOST_ROUNDS && moved > still; round++) {
        moved = 0;
        UNROLL
        for (int k = 0; k < SUBGROUPS; k++) {
            quaternion<real_t> q = subgroup_part(w, k);
            normalise(q);
            q = conj(q);
            moved +=
                q.vector[0] * q.vector[0] + q.vector[1] * q.vector[1] + q.vector[2] * q.vector[2];
            subgroup_multiply(q, u, k);
            subgroup_multiply(q, w, k);
        }
    }
    orthonormalise(u);
    return u;
}

// ---- nearest unitary matrix ---------------------------------------------------------------------
FUNCTION real_t norm_squared(const matrix& m)
{
    real_t sum = 0;
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) sum += squared(m.element[i][j]);
    }
    return sum;
}

// Computes the adjoint of the inverse of m times the conjugate of its determinant, and returns the
// determinant.
FUNCTION complex_t cofactors(const matrix& m, matrix& out)
{
    const complex_t(&e)[3][3] = m.element;
    UNROLL
    for (int i = 0; i < 3; i++) {
        const int below = (i + 1) % 3, last = (i + 2) % 3;
        UNROLL
        for (int j = 0; j < 3; j++)
            out.element[i][j] = conj_of_difference(e[below][(j + 1) % 3], e[last][(j + 2) % 3],
                                                   e[below][(j + 2) % 3], e[last][(j + 1) % 3]);
    }
    complex_t determinant = 0;
    UNROLL
    for (int j = 0; j < 3; j++)
        determinant = multiply_add_conj(determinant, out.element[0][j], e[0][j]);
    return determinant;
}

// Returns the U(3) matrix nearest to m in the Frobenius norm, m (m^+ m)^(-1/2), by Newton's
// iteration, N. J. Higham, "Computing the polar decomposition - with applications" (1986): the mean
// of a matrix and of the adjoint of its inverse, scaled so that both have one norm. It squares
// the distance at each step and needs no eigenvalues, so that matrices that are nearly singular
// take no other way. Several are as near to a singular matrix: a share of the identity that
// rounding would hide picks one.
FUNCTION matrix nearest_unitary(const matrix& m)
{
    enum { MOST_ROUNDS = 40 };
    const real_t rounding =
        sizeof(real_t) == 8 ? static_cast<real_t>(1e-15) : static_cast<real_t>(1e-6);
    matrix u = m, other;
    const real_t size = sqrt(norm_squared(m));
    if (size == 0) return unity();
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) u.element[i][j] = scaled(1 / size, u.element[i][j]);
    }
    complex_t determinant = cofactors(u, other);
    if (squared(determinant) < rounding * rounding) {
        UNROLL
        for (int i = 0; i < 3; i++) u.element[i][i].real += rounding;
        determinant = cofactors(u, other);
    }
    real_t moved = 1;
    for (int round = 0; round < MOST_ROUNDS && moved > rounding * rounding; round++) {
        const complex_t inverse = scaled(1 / squared(determinant), determinant); // 1 / conj
        const real_t mine = norm_squared(u), its = norm_squared(other) * squared(inverse);
        const real_t scale = sqrt(sqrt(its / mine)); // so that scale u has the norm of the other
        moved = 0;
        UNROLL
        for (int i = 0; i < 3; i++) {
            UNROLL
            for (int j = 0; j < 3; j++) {
                const complex_t before = u.element[i][j];
                u.element[i][j] = scaled(scale / 2, before) +
                                  scaled(1 / (2 * scale), inverse * other.element[i][j]);
                moved += squared(u.element[i][j] - before);
            }
        }
        determinant = cofactors(u, other);
    }
    return u;
}
