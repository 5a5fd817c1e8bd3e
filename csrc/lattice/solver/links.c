// Links in the types that a solver needs: see operator_row.h.
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/operator_row.h"

static cubc_status links_of_type(solver *s, const stored_links *from, int reals, cubc_type type,
                                 stored_links *out)
{
    *out = (stored_links){from->data, type, from->n};
    TRY(lattice_reconstruct(reals));
    if (type == from->type) return CUBC_OK;
    // Fixed point stores an even number of reals (kernels/lattice/su3.h).
    const int of = reals + (from->type == CUBC_I16 ? reals % 2 : 0),
              to = reals + (type == CUBC_I16 ? reals % 2 : 0);
    void *copy;
    out->n = from->n / (uint64_t)of * (uint64_t)to;
    TRY(solver_alloc(s, out->n * cubc_type_size(type), &copy));
    out->data = copy;
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
                                          LATTICE_EXTENT_MEMBERS(s->shape.extents)};
    return solver_launch(s, &link_copy_algorithm, &params);
}

cubc_status links_of_types(solver *s, const stored_links *from, int reals, stored_links out[TYPES])
{
    cubc_type types[TYPES];
    const int count = solver_types(s, types);
    for (int k = 0; k < count; k++) TRY(links_of_type(s, from, reals, types[k], &out[k]));
    return CUBC_OK;
}

const stored_links *links_in_type(const stored_links links[TYPES], cubc_type type)
{
    int k = 0;
    while (k + 1 < TYPES && links[k].type != type) k++;
    return &links[k];
}
