// cubc_solve: from fields of any order to a system, its solution by one of the methods, and back.
#include "lattice/operators/lattice.h"
#include "lattice/solver/solver.h"
#include "lattice/solver/wilson.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const solver_method *const methods[] = {&solver_cg, &solver_bicgstab, &solver_gcr,
                                               &solver_multishift};

static const uint64_t most_iterations = UINT64_C(1) << 48; // more than anybody waits for

typedef struct whole_fields {                // on both parities
    lattice_field b, x;                      // sources one after the other
    lattice_field b_of[2], x_of[2], m_of[2]; // of each parity, where the even system is solved
} whole_fields;

// ---- checks -------------------------------------------------------------------------------------
static cubc_status find_method(const char *name, const solver_method **out)
{
    const char *names[COUNT_OF(methods)];
    for (size_t k = 0; k < COUNT_OF(methods); k++) {
        names[k] = methods[k]->name;
        *out = methods[k];
        if (name && strcmp(name, names[k]) == 0) return CUBC_OK;
    }
    const char *near = nearest_name(name ? name : "", names, COUNT_OF(names));
    FAIL(CUBC_INVALID_ARGUMENT, "no solver '%.30s'%s%s%s; there are cg, bicgstab, gcr, multishift",
         name ? name : "", near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static cubc_status check_numbers(const cubc_solve_params *p)
{
    if (!(p->tolerance >= 0) || isinf(p->tolerance))
        FAIL(CUBC_INVALID_ARGUMENT, "a tolerance of %g: it is a number of 0 and more",
             p->tolerance);
    if (!p->iterations)
        FAIL(CUBC_INVALID_ARGUMENT, "a solve of no iterations: at least one is expected");
    if (!(p->delta >= 0 && p->delta < 1))
        FAIL(CUBC_INVALID_ARGUMENT, "a delta of %g: it is a number from 0 to 1", p->delta);
    if (p->precise != CUBC_F64 && p->precise != CUBC_F32)
        FAIL(CUBC_INVALID_TYPE, "residuals are F64 or F32, not %s", cubc_type_name(p->precise));
    TRY(lattice_precision("the fields of an iteration", p->sloppy));
    if (cubc_type_size(p->sloppy) > cubc_type_size(p->precise))
        FAIL(CUBC_INVALID_TYPE, "an iteration in %s is more precise than its residual in %s",
             cubc_type_name(p->sloppy), cubc_type_name(p->precise));
    if (!isfinite(p->op->kappa) || !isfinite(p->op->mu))
        FAIL(CUBC_INVALID_ARGUMENT, "kappa is %g, mu %g: they are finite numbers", p->op->kappa,
             p->op->mu);
    return CUBC_OK;
}

static cubc_status check_shifts(const cubc_solve_params *p, const solver_method *method)
{
    bool several = method == &solver_multishift;
    if (several != (p->shifts != NULL && p->shift_count > 0))
        FAIL(CUBC_INVALID_ARGUMENT,
             several ? "multishift needs shifts" : "shifts need the solver multishift, not %s",
             method->name);
    if (!several) return CUBC_OK;
    if (p->shift_count > MOST_SHIFTS)
        FAIL(CUBC_INVALID_ARGUMENT, "%d shifts: at most %d are solved for at once", p->shift_count,
             MOST_SHIFTS);
    if (p->guess) FAIL(CUBC_INVALID_ARGUMENT, "multishift begins at zero: it takes no x0");
    for (int k = 0; k < p->shift_count; k++)
        if (!(p->shifts[k] >= 0) || isinf(p->shifts[k]))
            FAIL(CUBC_INVALID_ARGUMENT, "a shift of %g: they are numbers of 0 and more",
                 p->shifts[k]);
    return CUBC_OK;
}

static cubc_status check_shape(const cubc_solve_params *p, lattice_shape *out)
{
    const cubc_operator *op = p->op;
    problem lattice = {0};
    *out = (lattice_shape){.extents = {op->lx, op->ly, op->lz, op->lt},
                           .reals = SPINOR_REALS,
                           .parities = p->even_odd ? 1 : 2};
    TRY(lattice_extents(&lattice, out->extents));
    if (!p->b || !p->x) FAIL(CUBC_INVALID_ARGUMENT, "cubc_solve: b or x is NULL");
    return lattice_sources(&lattice, "the source of a solve", p->n, 2, &out->sources);
}

// ---- fields -------------------------------------------------------------------------------------
static cubc_status convert(solver *s, const cubc_solve_params *p, const void *from,
                           cubc_type from_type, cubc_field_order from_order, void *to,
                           cubc_type to_type, cubc_field_order to_order)
{
    const cubc_spinor_copy_params copy = {.from = from,
                                          .to = to,
                                          .from_n = p->n,
                                          .to_n = p->n,
                                          .from_type = from_type,
                                          .to_type = to_type,
                                          .norm_type = CUBC_F32,
                                          .from_order = from_order,
                                          .to_order = to_order,
                                          .lx = p->op->lx,
                                          .ly = p->op->ly,
                                          .lz = p->op->lz,
                                          .lt = p->op->lt};
    return solver_launch(s, &spinor_copy_algorithm, &copy);
}

// From whole fields to those of a parity, or back.
static cubc_status part(solver *s, const lattice_field *whole, const lattice_field of[2],
                        bool together)
{
    size_t bytes = solver_reals(s) / s->shape.sources * cubc_type_size(whole->type);
    for (uint64_t k = 0; k < 2 * s->shape.sources; k++) {
        char *in_whole = (char *)whole->data + k * bytes;
        char *in_part = (char *)of[k % 2].data + k / 2 * bytes;
        TRY(solver_copy(s, together ? in_whole : in_part, together ? in_part : in_whole, bytes));
    }
    return CUBC_OK;
}

static cubc_status whole_field(solver *s, const cubc_solve_params *p, lattice_field *out)
{
    *out = (lattice_field){.type = s->precise};
    return solver_alloc(s, p->n * cubc_type_size(s->precise), &out->data);
}

static cubc_status take_fields(solver *s, const cubc_solve_params *p, whole_fields *w)
{
    TRY(whole_field(s, p, &w->b));
    TRY(whole_field(s, p, &w->x));
    TRY(convert(s, p, p->b, p->type, p->order, w->b.data, s->precise, CUBC_NATIVE));
    if (p->guess)
        TRY(convert(s, p, p->x, p->type, p->order, w->x.data, s->precise, CUBC_NATIVE));
    else
        TRY(solver_zero(s, w->x.data, p->n * cubc_type_size(s->precise)));
    TRY(solver_field(s, s->precise, &s->r));
    if (!p->even_odd) {
        s->b = w->b;
        s->y = w->x;
        return CUBC_OK;
    }
    for (int parity = 0; parity < 2; parity++) {
        TRY(solver_field(s, s->precise, &w->b_of[parity]));
        TRY(solver_field(s, s->precise, &w->x_of[parity]));
    }
    TRY(solver_field(s, s->precise, &s->b));
    TRY(part(s, &w->b, w->b_of, false));
    TRY(part(s, &w->x, w->x_of, false));
    s->y = w->x_of[0];
    return CUBC_OK;
}

// ---- scale --------------------------------------------------------------------------------------
// Calculated in double precision: squares of single ones would be lost.
static cubc_status take_source(solver *s, const cubc_solve_params *p, const whole_fields *w)
{
    static const cubc_site_update all = {
        .sums = {"norm(c128(b.real, b.imag))"},
        .finish = "take_source",
    };
    static const cubc_site_update both_parities = {
        .sums = {"norm(c128(e.real, e.imag)) + norm(c128(o.real, o.imag))"},
        .finish = "take_source",
    };
    if (!p->even_odd) return solver_update(s, UPDATE, &all, SITE_FIELDS(READ("b", s->b)));
    return solver_update(s, UPDATE, &both_parities,
                         SITE_FIELDS(READ("e", w->b_of[0]), READ("o", w->b_of[1])));
}

static const cubc_site_update scale = {
    .scalars = {"alpha_real"},
    .statements = "v = alpha_real * v",
};

static cubc_status multiply(solver *s, const cubc_solve_params *p, const whole_fields *w,
                            solver_phase phase, bool source)
{
    const lattice_field *whole = source ? &s->b : &s->y, *of = source ? w->b_of : w->x_of;
    if (!p->even_odd) return solver_update(s, phase, &scale, SITE_FIELDS(WRITE("v", *whole)));
    for (int parity = 0; parity < 2; parity++)
        TRY(solver_update(s, phase, &scale, SITE_FIELDS(WRITE("v", of[parity]))));
    return CUBC_OK;
}

static double epsilon(cubc_type type)
{
    return type == CUBC_F64 ? DBL_EPSILON : type == CUBC_F32 ? FLT_EPSILON : 1.0 / 32768;
}

// |r|^2 that a solve goes on to, relative to the source: somewhat below the tolerance, since what
// counts in the end is rounded once more. The residuals of multishift fall for ever, so there it is
// no less than what the precision can tell from nothing.
static double first_target(const solver *s, const cubc_solve_params *p)
{
    const double margin = 0.9;
    double target = margin * p->tolerance;
    if (s->shifts) target = fmax(target, epsilon(s->precise) / 4);
    return target * target;
}

// A power of two for numbers whose squares, and those of what is left of them at the end of a
// solve, would not fit a type.
static double scale_for(double mean_square, cubc_type precise)
{
    const int usual = 40, most = precise == CUBC_F64 ? 500 : 120; // which fits the type itself
    if (!(mean_square > 0) || isinf(mean_square)) return 1;
    int exponent = ilogb(mean_square);
    if (exponent > -usual && exponent < usual) return 1;
    return ldexp(1, (int)fmax(-most, fmin(most, -exponent / 2)));
}

static bool any_scaled(const solver *s)
{
    for (uint64_t k = 0; k < s->shape.sources; k++)
        if (s->scales[k] != 1) return true;
    return false;
}

// Double sources of which the squares are not doubles, or hardly, are first made such that they
// are.
static cubc_status bring_into_range(solver *s, const cubc_solve_params *p, const whole_fields *w)
{
    bool any = false;
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        double square = s->states[k].source;
        if (square < 0x1p-900) s->scales[k] = 0x1p500;
        if (!(square < 0x1p900)) s->scales[k] = 0x1p-500;
        any = any || s->scales[k] != 1;
    }
    if (!any) return CUBC_OK;
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        s->states[k].phase = UPDATE;
        s->states[k].target = first_target(s, p);
        s->states[k].alpha_real = s->scales[k];
    }
    TRY(solver_upload(s));
    TRY(multiply(s, p, w, UPDATE, true));
    if (p->guess) TRY(multiply(s, p, w, UPDATE, false));
    TRY(take_source(s, p, w));
    return solver_download(s);
}

// Sources that are far too small or too large to be calculated with are multiplied, and their
// solutions divided again.
static cubc_status scale_source(solver *s, const cubc_solve_params *p, const whole_fields *w)
{
    TRY(take_source(s, p, w));
    if (s->ahead) return CUBC_OK;
    TRY(solver_download(s));
    if (s->precise == CUBC_F64) TRY(bring_into_range(s, p, w));
    double reals = (double)p->n / (double)s->shape.sources;
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        solver_state *state = &s->states[k];
        double by = scale_for(state->source / reals, s->precise);
        s->scales[k] *= by;
        state->alpha_real = by;
        state->source *= by * by;
        state->target *= by * by;
    }
    if (any_scaled(s)) {
        TRY(solver_upload(s));
        TRY(multiply(s, p, w, UPDATE, true));
        if (p->guess) TRY(multiply(s, p, w, UPDATE, false));
    }
    for (uint64_t k = 0; k < s->shape.sources; k++) s->states[k].alpha_real = 0;
    return solver_upload(s);
}

// ---- results ------------------------------------------------------------------------------------
// The report on x is about the numbers that the caller gets: x goes into the caller's type, order
// and size, and back from there, before its residual is calculated.

static const char *reason_of(uint64_t phase)
{
    static const char *const reasons[] = {
        [CONVERGED] = "converged",
        [AT_LIMIT] = "stopped after the most iterations allowed",
        [BROKEN] = "broke down: a step would have divided by zero",
        [NOT_FINITE] = "met a number that is not finite",
        [STAGNANT] = "stagnated: the residual did not fall any more",
        [NO_SOURCE] = "converged: the right-hand side is zero, and so is the solution"};
    return phase < COUNT_OF(reasons) && reasons[phase] ? reasons[phase] : "did not end";
}

// Nothing has stopped any more; a solution without a source is zero.
static cubc_status reopen(solver *s)
{
    size_t each = solver_reals(s) / s->shape.sources * cubc_type_size(s->precise);
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        if (s->states[k].phase == NO_SOURCE)
            TRY(solver_zero(s, (char *)s->y.data + k * each, each));
        s->states[k].phase = ITERATE;
    }
    return solver_upload(s);
}

// Makes x as large as it is for the caller, or as it is for the sources that were solved for.
static cubc_status resize(solver *s, const cubc_solve_params *p, const whole_fields *w,
                          bool for_caller)
{
    if (!any_scaled(s)) return CUBC_OK;
    for (uint64_t k = 0; k < s->shape.sources; k++)
        s->states[k].alpha_real = for_caller ? 1 / s->scales[k] : s->scales[k];
    TRY(solver_upload(s));
    return multiply(s, p, w, ITERATE, false);
}

static cubc_status give(solver *s, const cubc_solve_params *p, const lattice_field *x, void *to)
{
    TRY(convert(s, p, x->data, s->precise, CUBC_NATIVE, to, p->type, p->order));
    return convert(s, p, to, p->type, p->order, x->data, s->precise, CUBC_NATIVE);
}

// All right-hand sides, and x of them where the caller has it.
static cubc_status judge(solver *s, const cubc_solve_params *p, char *x, cubc_solve_info *info)
{
    size_t bytes = p->n / s->shape.sources * cubc_type_size(p->type);
    TRY(solver_download(s));
    for (uint64_t k = 0; k < s->shape.sources; k++, x += bytes) {
        double square = s->states[k].residual, source = s->states[k].source;
        info[k].residual = sqrt(source > 0 ? square / source : square);
        if (!isfinite(info[k].residual)) {
            TRY(s->device->api->fill(s->device, x, 0xff, bytes, s->stream)); // NaN of either type
            info[k].residual = NAN;
            info[k].reason = reason_of(NOT_FINITE);
        } else if (info[k].residual <= p->tolerance) {
            if (!info[k].converged) info[k].reason = reason_of(CONVERGED);
        } else if (info[k].converged) {
            info[k].reason = "stagnated: rounding left x a larger residual than the iteration had";
        }
        info[k].converged = info[k].residual <= p->tolerance;
    }
    return CUBC_OK;
}

static const cubc_site_update residual = {
    .sums = {"norm(b - m)"},
    .finish = "keep_residual",
};
static const cubc_site_update residual_of_parities = {
    .sums = {"norm(be - me) + norm(bo - mo)"},
    .finish = "keep_residual",
};

// The rest of the solution, and its residual on the whole lattice.
static cubc_status give_fields(solver *s, const cubc_solve_params *p, whole_fields *w,
                               cubc_solve_info *info)
{
    if (p->even_odd) TRY(s->op->odd_part(s, w->b_of, w->x_of));
    TRY(resize(s, p, w, true));
    if (p->even_odd) TRY(part(s, &w->x, w->x_of, true));
    TRY(give(s, p, &w->x, p->x));
    if (p->even_odd) TRY(part(s, &w->x, w->x_of, false));
    TRY(resize(s, p, w, false));
    if (p->even_odd) {
        w->m_of[0] = s->r;
        w->m_of[1] = s->b; // which is no longer needed
        TRY(s->op->whole(s, w->x_of, w->m_of));
        TRY(solver_update(s, ITERATE, &residual_of_parities,
                          SITE_FIELDS(READ("be", w->b_of[0]), READ("bo", w->b_of[1]),
                                      READ("me", w->m_of[0]), READ("mo", w->m_of[1]))));
    } else {
        TRY(s->op->apply(s, &(operator_call){.in = &s->y, .out = &s->r, .phase = ITERATE}));
        TRY(solver_update(s, ITERATE, &residual, SITE_FIELDS(READ("b", s->b), READ("m", s->r))));
    }
    return s->ahead ? CUBC_OK : judge(s, p, p->x, info);
}

// The same of each shift.
static cubc_status give_shifted(solver *s, const cubc_solve_params *p, const whole_fields *w,
                                cubc_solve_info *info)
{
    size_t bytes = p->n * cubc_type_size(p->type);
    for (int k = 0; k < s->shifts; k++) {
        char *to = (char *)p->x + (size_t)k * bytes;
        s->y = *multishift_solution(s, k);
        TRY(resize(s, p, w, true));
        TRY(give(s, p, &s->y, to));
        TRY(resize(s, p, w, false));
        TRY(multishift_residual(s, k));
        if (!s->ahead) TRY(judge(s, p, to, info + (uint64_t)k * s->shape.sources));
    }
    return CUBC_OK;
}

// ---- states -------------------------------------------------------------------------------------
enum { ROUNDINGS = 16 }; // how far a residual can drop before they outweigh it, in epsilons
static cubc_status open_states(solver *s, const cubc_solve_params *p)
{
    bool on_cpu = strcmp(s->device->info.kind, "cpu") == 0;
    uint64_t sources = s->shape.sources, sites = solver_reals(s) / (uint64_t)s->shape.reals;
    double delta = p->delta > 0 ? p->delta : 0.2,
           least = fmin(delta, ROUNDINGS * epsilon(p->sloppy));
    // A block has one thread on the cpu and whole warps elsewhere.
    s->guard.parts_n = CUBC_MOST_SUMS * (on_cpu ? sites : sites / 32 + sources);
    void *memory;
    TRY(solver_alloc(s, s->guard.parts_n * sizeof(double), &memory));
    s->guard.parts = memory;
    TRY(solver_alloc(s, sources * sizeof *s->states, &s->guard.states));
    s->states = mem_zalloc(sources, sizeof *s->states);
    s->scales = mem_alloc(sources, sizeof *s->scales);
    if (!s->states || !s->scales) return CUBC_NO_MEMORY;
    for (uint64_t k = 0; k < sources; k++) s->scales[k] = 1;
    for (uint64_t k = 0; k < sources; k++)
        s->states[k] = (solver_state){.phase = UPDATE,
                                      .limit = p->iterations,
                                      .target = first_target(s, p),
                                      .drop = delta * delta,
                                      .most_drop = least * least,
                                      .sigma = {1},
                                      .least = HUGE_VAL,
                                      .shifts = (uint64_t)s->shifts};
    for (uint64_t k = 0; k < sources && s->shifts; k++)
        memcpy(s->states[k].shift, p->shifts, (size_t)s->shifts * sizeof *p->shifts);
    return solver_upload(s);
}

static uint64_t solutions(const solver *s)
{
    return s->shape.sources * (uint64_t)(s->shifts ? s->shifts : 1);
}

static void describe(const solver *s, cubc_solve_info *info)
{
    for (uint64_t k = 0; k < solutions(s); k++) {
        const solver_state *state = &s->states[k % s->shape.sources];
        info[k] =
            (cubc_solve_info){.converged = state->phase == CONVERGED || state->phase == NO_SOURCE,
                              .reason = reason_of(state->phase),
                              .iterations = state->iterations,
                              .updates = state->updates};
    }
}

static void measure(const solver *s, double seconds, cubc_solve_info *info)
{
    double flops = 0,
           sites = (double)(solver_reals(s) / (uint64_t)s->shape.reals) / (double)s->shape.sources;
    for (uint64_t k = 0; k < s->shape.sources; k++)
        flops += s->flops * sites *
                 (double)(info[k].iterations * (uint64_t)s->method->iteration_applies +
                          info[k].updates * (uint64_t)s->method->update_applies);
    for (uint64_t k = 0; k < solutions(s); k++) {
        info[k].seconds = seconds;
        info[k].compile_seconds = s->compile_seconds;
        info[k].gflops = seconds > 0 ? 1e-9 * flops / seconds : 0;
    }
}

// ---- the call -----------------------------------------------------------------------------------
static cubc_status solve(solver *s, const cubc_solve_params *p, cubc_solve_info *info)
{
    whole_fields w = {0};
    wilson system;
    TRY(open_states(s, p));
    TRY(wilson_open(s, p->op, &system));
    TRY(take_fields(s, p, &w));
    TRY(scale_source(s, p, &w));
    if (p->even_odd) TRY(s->op->source(s, w.b_of, &s->b));
    TRY(s->method->open(s));
    TRY(solver_run(s));
    describe(s, info);
    TRY(reopen(s));
    return s->shifts ? give_shifted(s, p, &w, info) : give_fields(s, p, &w, info);
}

// Compiles what a solve needs.
static cubc_status prepare(solver *s, const cubc_solve_params *p, cubc_solve_info *info)
{
    double start = now_seconds();
    ahead launches = {.device = s->device};
    solver thought = *s;
    thought.ahead = &launches;
    cubc_status st = solve(&thought, p, info);
    if (!st) st = ahead_compile(&launches);
    solver_free(&thought);
    ahead_free(&launches);
    s->compile_seconds = now_seconds() - start;
    return st;
}

cubc_status cubc_solve(cubc_device *device, const cubc_solve_params *params, cubc_solve_info *info,
                       cubc_stream stream)
{
    if (!device || !params || !params->op || !info)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_solve: NULL argument");
    double start = now_seconds();
    cubc_solve_params own = *params;
    if (own.iterations > most_iterations) own.iterations = most_iterations;
    const cubc_solve_params *p = &own;
    solver s = {.device = device};
    TRY(find_method(p->solver, &s.method));
    TRY(check_shifts(p, s.method));
    if (s.method == &solver_multishift) {
        if (p->sloppy != p->precise)
            FAIL(CUBC_INVALID_TYPE, "multishift iterates in the precise type, %s, not in %s",
                 cubc_type_name(p->precise), cubc_type_name(p->sloppy));
        own.even_odd = 0;
        s.shifts = own.shift_count;
    }
    TRY(check_numbers(p));
    TRY(check_shape(p, &s.shape));
    s.precise = p->precise;
    s.sloppy = p->sloppy;
    TRY(device->api->stream_create(device, &s.stream));
    cubc_status st = device->api->order(device, s.stream, stream);
    if (!st) st = prepare(&s, p, info);
    if (!st) st = solve(&s, p, info);
    if (!st) st = device->api->synchronize(device, s.stream);
    if (!st) measure(&s, now_seconds() - start - s.compile_seconds, info);
    if (st) solver_settle(&s);
    solver_free(&s);
    device->api->stream_destroy(device, s.stream);
    return st;
}
