// Floating-point operations that operators do a site of the output, as the literature counts them:
// of links that are there whole, a complex multiplication is six. The rates of solvers and those of
// a search's variants are of these.
#ifndef CUBC_LATTICE_FLOPS_H
#define CUBC_LATTICE_FLOPS_H

// clang-format off
enum {
    HOP_FLOPS = 1320,      // of Wilson fermions
    TWIST_FLOPS = 96,
    DOUBLET_FLOPS = 2 * TWIST_FLOPS, // of a flavour
    CLOVER_FLOPS = 552,
    TWISTED_CLOVER_FLOPS = 2 * CLOVER_FLOPS,
    ALONG_FLOPS = 240,     // of domain-wall fermions, along s
    NAIVE_FLOPS = 570,     // hops of staggered fermions
    IMPROVED_FLOPS = 1146, // with those over three links
};
// clang-format on

#endif
