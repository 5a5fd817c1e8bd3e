// The shared part of descriptors of kernels with a thread for every few sites: see site_map.h.
#include "lattice/operators/site_map.h"

#include "base/integer.h"

#include <string.h>

cubc_status site_map_problem(const algorithm *a, const int extents[4], cubc_type type,
                             const char *benchmark, problem *out)
{
    *out = (problem){
        .algorithm = a, .type = (uint8_t)type, .acc_type = (uint8_t)type, .aligned = true};
    problem_set_benchmark(out, "", benchmark);
    TRY(lattice_extents(out, extents));
    out->n = 2 * lattice_sites(out);
    return CUBC_OK;
}

// Fields of one parity, which are as much work as half a right-hand side, are counted in pairs.
void site_map_axis_values_of_sources(const problem *p, uint64_t *values)
{
    lattice_axis_values(p, values);
    values[LATTICE_SOURCES_AXIS] = ceil_div(p->n, 2 * lattice_sites(p));
}

// ---- variants -----------------------------------------------------------------------------------
static void define_conversion(const problem *p, text *out)
{
    cubc_type from = (cubc_type)p->inputs[0].type, to = (cubc_type)p->outputs[0].type;
    cubc_type wide = from == CUBC_F64 || to == CUBC_F64 ? CUBC_F64 : CUBC_F32;
    text_printf(out, "#define TUNE_FROM %s\n#define TUNE_TO %s\n#define TUNE_WIDE %s\n",
                type_table[from].dialect, type_table[to].dialect, type_table[wide].dialect);
}

void site_map_define(const problem *p, text *out)
{
    const site_map *map = p->algorithm->details;
    lattice_define(p, out);
    if (map->converts)
        define_conversion(p, out);
    else
        text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
    int values[COUNT_OF(map->macros)];
    memcpy(values, p->traits + sizeof(lattice_traits), sizeof values);
    for (size_t k = 0; k < COUNT_OF(map->macros) && map->macros[k]; k++)
        text_printf(out, "#define TUNE_%s %d\n", map->macros[k], values[k]);
}

const char *site_map_any_variant(const problem *p, const char *kind, const space *s,
                                 const variant *v)
{
    (void)p, (void)kind, (void)s, (void)v;
    return NULL;
}

const char *site_map_fitting_variant(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    (void)p;
    if (device_is_cpu(kind)) return NULL;
    if (variant_value(s, v, "tpb", 1) * variant_value(s, v, "mb", 1) > 2048)
        return "more threads than a multiprocessor holds";
    return NULL;
}

// ---- launches -----------------------------------------------------------------------------------
cubc_status site_map_launch(const problem *p, const instance *i, uint64_t sites, const void *args,
                            size_t bytes, plan *out)
{
    uint64_t spt = instance_value(i, "spt", 1);
    uint64_t each = spt * i->kernels[0].threads, blocks = ceil_div(sites, each);
    if (blocks > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "%s of %llu sites needs more than 2^31 blocks",
             p->algorithm->name, (unsigned long long)sites);
    launch *l = &out->launches[out->launch_count++];
    *l = (launch){.kernel = &i->kernels[0],
                  .shape.grid = (unsigned)blocks,
                  .args_count = bytes / sizeof l->args[0]};
    memcpy(l->args, args, bytes);
    return CUBC_OK;
}

cubc_status site_map_plan(const problem *p, const instance *i, plan *out)
{
    const site_map *map = p->algorithm->details;
    return site_map_plan_of(p, i, map->number_bytes, out);
}

cubc_status site_map_plan_of(const problem *p, const instance *i, size_t number_bytes, plan *out)
{
    const site_map *map = p->algorithm->details;
    uint64_t args[MAX_ARGS];
    size_t count = 0;
    for (int k = 0; k < p->input_count; k++) args[count++] = (uintptr_t)p->inputs[k].data;
    for (int k = 0; k < p->output_count; k++) args[count++] = (uintptr_t)p->outputs[k].data;
    memcpy(args + count, p->numbers, number_bytes);
    count += number_bytes / sizeof *args;
    return site_map_launch(p, i, map->sites ? map->sites(p) : p->n, args, count * sizeof *args,
                           out);
}
