// Arithmetic on links: see links.h.
#include "lattice/io/links.h"

#include "base/shares.h"

#include <math.h>
#include <string.h>

// Real arithmetic spelled out: C's complex product looks after infinities, at five times the cost.
typedef struct number {
    double re, im;
} number;
typedef struct matrix {
    number row[3][3];
} matrix;

static inline number times(number a, number b)
{
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline number times_conj(number a, number b) // a conj(b)
{
    return (number){a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

static inline number plus(number a, number b)
{
    return (number){a.re + b.re, a.im + b.im};
}

static inline number minus(number a, number b)
{
    return (number){a.re - b.re, a.im - b.im};
}

static inline number scaled(double s, number a)
{
    return (number){s * a.re, s * a.im};
}

static number dot_conj(const number a[3], const number b[3]) // sum of a conj(b)
{
    number sum = times_conj(a[0], b[0]);
    for (int k = 1; k < 3; k++) sum = plus(sum, times_conj(a[k], b[k]));
    return sum;
}

static void cross_conj(const number a[3], const number b[3], number out[3]) // conj(a x b)
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        number c = minus(times(a[j], b[k]), times(a[k], b[j]));
        out[i] = (number){c.re, -c.im};
    }
}

static matrix load(const double *link)
{
    matrix u;
    memcpy(&u, link, sizeof u);
    return u;
}

static matrix product(const matrix *a, const matrix *b)
{
    matrix out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const number *row = a->row[i];
            out.row[i][j] = plus(plus(times(row[0], b->row[0][j]), times(row[1], b->row[1][j])),
                                 times(row[2], b->row[2][j]));
        }
    return out;
}

// ---- SU(3) --------------------------------------------------------------------------------------
void links_complete(double *link)
{
    matrix u = load(link);
    cross_conj(u.row[0], u.row[1], u.row[2]);
    memcpy(link, &u, sizeof u);
}

static number determinant(const matrix *u)
{
    number third[3];
    cross_conj(u->row[0], u->row[1], third);
    return dot_conj(u->row[2], third);
}

static double farther(double so_far, number a)
{
    double distance = fabs(a.re) > fabs(a.im) ? fabs(a.re) : fabs(a.im);
    return distance <= so_far ? so_far : distance; // NaN wins
}

// Half of 1 - U U^H, whose lower half is the upper's mirror image. The largest entry of 1 - U U^H.
static double defect(const matrix *u, matrix *out)
{
    double distance = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            number entry = dot_conj(u->row[i], u->row[j]);
            entry = (number){(i == j) - entry.re, -entry.im};
            distance = farther(distance, entry);
            out->row[i][j] = scaled(0.5, entry);
            out->row[j][i] = (number){0.5 * entry.re, -0.5 * entry.im};
        }
    return distance;
}

static double distance_of(const matrix *u, matrix *half_defect)
{
    number d = determinant(u);
    return farther(defect(u, half_defect), (number){d.re - 1, d.im});
}

double links_distance(const double *link)
{
    matrix u = load(link), unused;
    return distance_of(&u, &unused);
}

static void normalise(number row[3])
{
    double scale = 1 / sqrt(dot_conj(row, row).re);
    for (int k = 0; k < 3; k++) row[k] = scaled(scale, row[k]);
}

double links_project(double *link)
{
    matrix u = load(link), half_defect;
    double distance = distance_of(&u, &half_defect);
    if (!(distance <= LINK_NEAR)) return distance;
    // Newton's step to the nearest unitary matrix: U + (1 - U U^H) U / 2.
    matrix v = product(&half_defect, &u);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) v.row[i][j] = plus(u.row[i][j], v.row[i][j]);
    number *a = v.row[0], *b = v.row[1];
    number third = {1, -determinant(&v).im / 3}; // takes a third of the determinant's phase out
    for (int k = 0; k < 3; k++) {
        a[k] = times(third, a[k]);
        b[k] = times(third, b[k]);
    }
    normalise(a);
    number along = dot_conj(b, a);
    for (int k = 0; k < 3; k++) b[k] = minus(b[k], times(along, a[k]));
    normalise(b);
    cross_conj(a, b, v.row[2]);
    memcpy(link, &v, sizeof v);
    return distance;
}

// ---- plaquette and trace ------------------------------------------------------------------------
typedef struct measurement {
    const double *field;
    const int *extent, *margin;
    double (*sums)[2]; // of each row of sites along x
} measurement;

// Sites of a direction that are off the margins.
static uint64_t inside(const measurement *m, int mu)
{
    return (uint64_t)(m->extent[mu] - 2 * m->margin[mu]);
}

// Re tr [A B (C D)^H].
double links_plaquette(const double *a, const double *b, const double *c, const double *d)
{
    matrix first = load(a), second = load(b), third = load(c), fourth = load(d);
    matrix upper = product(&first, &second), lower = product(&third, &fourth);
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += dot_conj(upper.row[i], lower.row[i]).re;
    return sum;
}

static void measure_site(const measurement *m, const int at[4], double sums[2])
{
    ptrdiff_t stride = SITE_LINKS * LINK_REALS, next[4];
    const double *here = m->field;
    for (int mu = 0; mu < 4; mu++) {
        int extent = m->extent[mu];
        next[mu] = at[mu] + 1 < extent ? stride : -stride * (extent - 1);
        here += stride * at[mu];
        stride *= extent;
    }
    for (int mu = 0; mu < 4; mu++) {
        const double *u = here + LINK_REALS * mu;
        sums[1] += u[0] + u[8] + u[16];
        for (int nu = mu + 1; nu < 4; nu++) {
            const double *w = here + LINK_REALS * nu;
            sums[0] += links_plaquette(u, w + next[mu], w, u + next[nu]);
        }
    }
}

static cubc_status measure_rows(void *context, uint64_t first, uint64_t count, void *room)
{
    const measurement *m = context;
    uint64_t y = inside(m, 1), z = inside(m, 2);
    (void)room;
    for (uint64_t row = first; row < first + count; row++) {
        int at[4] = {0, m->margin[1] + (int)(row % y), m->margin[2] + (int)(row / y % z),
                     m->margin[3] + (int)(row / y / z)};
        double sums[2] = {0, 0};
        for (; at[0] < m->extent[0]; at[0]++) measure_site(m, at, sums);
        memcpy(m->sums[row], sums, sizeof sums);
    }
    return CUBC_OK;
}

cubc_status links_row_sums(const double *field, const int extent[4], const int margin[4],
                           double (*sums)[2])
{
    enum { ROWS = 64 }; // of a share
    measurement m = {field, extent, margin, sums};
    return shares_run(inside(&m, 1) * inside(&m, 2) * inside(&m, 3), ROWS, 0, measure_rows, &m);
}

void links_means(const double (*sums)[2], uint64_t rows, const int extent[4], double *plaquette,
                 double *link_trace)
{
    double sites = (double)rows * extent[0], all[2] = {0, 0};
    for (uint64_t row = 0; row < rows; row++)
        for (int k = 0; k < 2; k++) all[k] += sums[row][k];
    *plaquette = all[0] / (6 * 3 * sites);
    *link_trace = all[1] / (4 * 3 * sites);
}

cubc_status links_measure(const double *field, const int extent[4], double *plaquette,
                          double *link_trace)
{
    const int none[4] = {0};
    uint64_t rows = (uint64_t)extent[1] * (uint64_t)extent[2] * (uint64_t)extent[3];
    double (*sums)[2] = mem_alloc(rows, sizeof *sums);
    if (!sums) return CUBC_NO_MEMORY;
    cubc_status st = links_row_sums(field, extent, none, sums);
    if (!st) links_means((const double (*)[2])sums, rows, extent, plaquette, link_trace);
    mem_free(sums);
    return st;
}
