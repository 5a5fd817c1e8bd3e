// Links in the types that a solver needs: see operator_row.h.
#include "lattice/solver/operator_row.h"

static cubc_status links_of_type(solver *s, const stored_links *from, int reals, cubc_type type,
                                 stored_links *out)
{
    *out = (stored_links){from->data, type, from->n};
    if (type == from->type) return CUBC_OK;
    // Fixed point stores an even number of reals (kernels/lattice/su3.h).
    const int of = reals + (from->type == CUBC_I16 ? reals % 2 : 0),
              to = reals + (type == CUBC_I16 ? reals % 2 : 0);
    void *copy;
    out->n = from->n / (uint64_t)of * (uint64_t)to;
    TRY(solver_alloc(s, out->n * cubc_type_size(type), &copy));
    out->data = copy;
    const int *extents = s->shape.extents;
    const cubc_link_copy_params params = {.from = from->data,
                                          .to = copy,
                                          .from_n = from->n,
                                          .to_n = out->n,
                                          .from_type = from->type,
                                          .to_type = type,
                                          .from_order = CUBC_NATIVE,
                                          .to_order = CUBC_NATIVE,
                                          .from_reals = reals,
                                          .to_reals = reals,
                                          .lx = extents[0],
                                          .ly = extents[1],
                                          .lz = extents[2],
                                          .lt = extents[3]};
    return solver_launch(s, &link_copy_algorithm, &params);
}

cubc_status links_of_types(solver *s, const stored_links *from, int reals, stored_links out[2])
{
    TRY(links_of_type(s, from, reals, s->precise, &out[0]));
    return links_of_type(s, from, reals, s->sloppy, &out[1]);
}

const stored_links *links_in_type(const stored_links links[2], cubc_type type)
{
    return &links[links[0].type == type ? 0 : 1];
}
