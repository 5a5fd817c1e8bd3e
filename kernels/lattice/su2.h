// SU(2) matrices as quaternions, and their distribution in a heat bath.
//
// A quaternion is scalar + i vector . sigma, with the Pauli matrices sigma. Those of length 1 are
// SU(2).
#pragma once
#include "philox.h"

template <class F>
struct quaternion {
    F scalar, vector[3];
};

template <class F>
FUNCTION quaternion<F> operator*(const quaternion<F>& a, const quaternion<F>& b)
{
    const F *v = a.vector, *w = b.vector;
    return quaternion<F>{a.scalar * b.scalar - (v[0] * w[0] + v[1] * w[1] + v[2] * w[2]),
                         {a.scalar * w[0] + b.scalar * v[0] - (v[1] * w[2] - v[2] * w[1]),
                          a.scalar * w[1] + b.scalar * v[1] - (v[2] * w[0] - v[0] * w[2]),
                          a.scalar * w[2] + b.scalar * v[2] - (v[0] * w[1] - v[1] * w[0])}};
}

template <class F>
FUNCTION quaternion<F> conj(const quaternion<F>& a)
{
    return quaternion<F>{a.scalar, {-a.vector[0], -a.vector[1], -a.vector[2]}};
}

// Returns the length of q and scales q to length 1; 0 becomes the unit element.
template <class F>
FUNCTION F normalise(quaternion<F>& q)
{
    const F* v = q.vector;
    const F length = sqrt(q.scalar * q.scalar + v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (length == 0) {
        q.scalar = 1;
        return 0;
    }
    const F factor = 1 / length;
    q.scalar *= factor;
    for (int k = 0; k < 3; k++) q.vector[k] *= factor;
    return length;
}

// Draws x in (-1, 1) of the density sqrt(1 - x^2) exp(alpha x), up to a factor, for alpha >= 0. It
// follows A. D. Kennedy and B. J. Pendleton, "Improved heat bath method for Monte Carlo
// calculations in lattice gauge theories" (1985), and where few of their candidates would be
// accepted M. Creutz, "Monte Carlo study of quantized SU(2) gauge theory" (1980). At least two of
// three candidates are accepted. NaN is accepted, so that the loop ends.
template <class F>
FUNCTION F draw_cosine(F alpha, random_stream& random)
{
    F first[2], second[2];
    for (;;) {
        draw_uniform(random, first);
        if (alpha > 2) {
            draw_uniform(random, second);
            F cosine, sine;
            turn(second[0], cosine, sine);
            const F below = -(log(first[0]) * (cosine * cosine) + log(first[1])) / alpha;
            if (!(second[1] * second[1] > 1 - below / 2)) return 1 - below;
        } else {
            const F least = alpha > 0 ? alpha : static_cast<F>(1e-30);
            const F x = 1 + log1p(first[0] * expm1(-2 * least)) / least;
            if (!(first[1] * first[1] > 1 - x * x)) return x;
        }
    }
}

// Draws an element of SU(2) of the density exp(alpha scalar), up to a factor, with the Haar
// measure.
template <class F>
FUNCTION quaternion<F> draw_su2(F alpha, random_stream& random)
{
    F uniform[2];
    const F scalar = draw_cosine(alpha, random);
    draw_uniform(random, uniform);
    const F square = 1 - scalar * scalar;
    const F length = sqrt(square > 0 ? square : 0 * square); // NaN stays NaN
    const F height = 2 * uniform[0] - 1, across = length * sqrt(1 - height * height);
    F cosine, sine;
    turn(uniform[1], cosine, sine);
    return quaternion<F>{scalar, {across * cosine, across * sine, length * height}};
}
