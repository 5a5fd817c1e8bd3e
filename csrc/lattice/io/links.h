// Arithmetic on links as files need it, in double precision and plain C: the third row of an SU(3)
// matrix, the nearest SU(3) matrix, plaquette and link trace. A link is 18 reals, row after row.
#ifndef CUBC_LATTICE_LINKS_H
#define CUBC_LATTICE_LINKS_H

#include "base/base.h"

enum { LINK_REALS = 18, LINK_ROWS_REALS = 12, SITE_LINKS = 4 };
// Largest distance from SU(3) (unitarity and determinant, each entry) that is taken for rounding.
#define LINK_NEAR 1e-4

// Third row = conj(first x second).
void links_complete(double *link);
// The distance of the product with its adjoint from 1, or of the determinant; the larger.
double links_distance(const double *link);
// Replaces a link by the SU(3) matrix nearest to it, if it is at most LINK_NEAR away; returns how
// far it was. To first order the change is that of a polar decomposition with the determinant's
// phase taken out, so no row is preferred; Gram-Schmidt removes the rounding that remains.
double links_project(double *link);
// Re tr of the plaquette of links a, b around one corner and c, d around the other.
double links_plaquette(const double *a, const double *b, const double *c, const double *d);
// Sums of Re tr P and of Re tr U of the rows of sites along x, [t][z][y][2], of a field
// of `extent` sites with a margin on each side that has no rows of its own.
cubc_status links_row_sums(const double *field, const int extent[4], const int margin[4],
                           double (*sums)[2]);
// Means of all rows' sums, in their order.
void links_means(const double (*sums)[2], uint64_t rows, const int extent[4], double *plaquette,
                 double *link_trace);
// Mean of Re tr P / 3 over all plaquettes and of Re tr U / 3 over all links, of a whole field in
// the public order. extent: X, Y, Z, T. The result does not depend on the number of threads.
cubc_status links_measure(const double *field, const int extent[4], double *plaquette,
                          double *link_trace);

#endif
