// Checks and macros that the descriptors of kernels on gauge fields share: see gauge.h.
#include "lattice/gauge/gauge.h"

cubc_status gauge_problem(const algorithm *a, const int extents[4], cubc_type type,
                          const char *benchmark, problem *out)
{
    if (type != CUBC_F64 && type != CUBC_F32)
        FAIL(CUBC_INVALID_TYPE,
             "%s calculates with fields of F64 or F32, not of %s: link_copy and spinor_copy make "
             "one of the other",
             a->name, cubc_type_name(type));
    return site_map_problem(a, extents, type, benchmark, out);
}

cubc_status gauge_input(problem *p, const char *what, const void *data, uint64_t n, int reals)
{
    uint64_t fields;
    TRY(lattice_fields(p, what, n, reals, 2, &fields));
    return problem_input(p, what, data, n, (cubc_type)p->type);
}

cubc_status gauge_output(problem *p, const char *what, void *data, uint64_t n, int reals)
{
    uint64_t fields;
    TRY(lattice_fields(p, what, n, reals, 2, &fields));
    return problem_output(p, what, data, n, (cubc_type)p->type);
}

cubc_status gauge_arrays(problem *p)
{
    TRY(problem_check_overlap(p, INPUT_OF_SAME_NUMBER));
    return lattice_aligned(p);
}

cubc_status gauge_arrays_apart(problem *p)
{
    TRY(gauge_arrays(p));
    if (p->in_place)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s: the output is the gauge field, whose links it reads at several sites: give it "
             "memory of its own",
             p->algorithm->name);
    return CUBC_OK;
}

const char *gauge_random_integers(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<i32>(random_u64(seed, i) % 3) - 1";
}

const char *gauge_random_reals(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<i32>(random_u64(seed, i) >> 40) * 0x1p-24 - 0.5";
}
