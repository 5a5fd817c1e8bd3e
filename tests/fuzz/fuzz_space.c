// Kernel sources with %RANGE% lines, and variant labels: the input is a source, then after a NUL a
// label.
//
// A space that is accepted has few parameters with few digits and a size that 64 bits hold; what a
// variant is called is read back as that variant, and a label of a stranger gives values within the
// ranges or an error.
#include "compile/space.h"
#include "fuzz.h"

#include <string.h>

static const char *const kinds[] = {"cpu", "cuda"};

static int item(const parameter *p, int place)
{
    int length;
    const char *text = space_item(p, place, &length);
    must(length > 0 && text >= p->values && text + length <= p->values + p->length);
    return p->kind == VALUE_NAMES ? place : atoi(text);
}

static int lies_in(const parameter *p, int value)
{
    int found = 0;
    for (int k = 0; p->kind != VALUE_RANGE && k < p->count; k++) found += item(p, k) == value;
    return p->kind != VALUE_RANGE
               ? found == 1
               : value >= p->start && value <= p->end && (value - p->start) % p->step == 0;
}

static void check_space(const space *s)
{
    long double product = 1;
    must(s->count >= 0 && s->count <= MAX_PARAMETERS);
    for (int i = 0; i < s->count; i++) {
        const parameter *p = &s->parameters[i];
        if (p->kind == VALUE_RANGE)
            must(p->step > 0 && p->start >= 0 && p->start <= p->end && p->end <= MAX_VALUE &&
                 p->count == (p->end - p->start) / p->step + 1);
        must(p->count > 0);
        product *= p->count;
        for (int j = 0; j < i; j++) {
            must(strcmp(p->label, s->parameters[j].label) != 0);
            must(strcmp(p->macro, s->parameters[j].macro) != 0);
        }
    }
    must((long double)space_size(s) == product);
    must(s->gone_count >= 0 && s->gone_count <= MAX_GONE);
}

// A label with the parameters that are gone is of the same variant; it may be too long for any.
static void check_earlier_label(const space *s, const char *label, const variant *same)
{
    char earlier[2 * MAX_LABEL];
    variant v = {{0}};
    size_t used = 0;
    for (int k = 0; s->count && k < s->gone_count; k++)
        used += (size_t)snprintf(earlier + used, sizeof earlier - used, "%s.", s->gone[k]);
    snprintf(earlier + used, sizeof earlier - used, "%s", label);
    must(variant_parse(s, earlier, &v) == CUBC_OK && memcmp(&v, same, sizeof v) == 0);
}

// The variant of the last values; of ranges alone its label is as long as one gets.
static void check_own_label(const space *s)
{
    variant largest = {{0}}, again = {{0}};
    char label[MAX_LABEL];
    text defines = {0};
    for (int i = 0; i < s->count; i++) {
        const parameter *p = &s->parameters[i];
        largest.values[i] =
            p->kind == VALUE_RANGE ? p->end - (p->end - p->start) % p->step : item(p, p->count - 1);
    }
    variant_label(s, &largest, label);
    must(strlen(label) < MAX_LABEL);
    must(variant_parse(s, label, &again) == CUBC_OK);
    check_earlier_label(s, label, &largest);
    must(memcmp(&largest, &again, sizeof largest) == 0);
    for (int i = 0; i < s->count; i++)
        must(variant_value(s, &again, s->parameters[i].label, -1) == largest.values[i]);
    variant_defines(s, &largest, &defines);
    int lines = 0;
    for (size_t i = 0; i < defines.length; i++) lines += defines.data[i] == '\n';
    must(lines == s->count && text_done(&defines) == CUBC_OK);
    text_free(&defines);
}

static void check_label(const space *s, const char *label)
{
    variant v = {{0}};
    cubc_status st = variant_parse(s, label, &v);
    must(st == CUBC_OK || (st == CUBC_INVALID_ARGUMENT && *cubc_error_message()));
    if (st) return;
    for (int i = 0; i < s->count; i++) must(lies_in(&s->parameters[i], v.values[i]));
    for (const char *c = label; *c; c++) must(*c > ' ' && *c < 127);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    long before = mem_outstanding();
    char *source = malloc(size + 1);
    must(source != NULL);
    if (size) memcpy(source, data, size);
    source[size] = '\0';
    size_t length = strlen(source);
    const char *label = length < size ? source + length + 1 : "";
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        space s;
        cubc_status st = space_parse(source, kinds[k], &s);
        must(st == CUBC_OK ||
             (st == CUBC_INVALID_ARGUMENT && strncmp(cubc_error_message(), "line ", 5) == 0));
        if (st) continue;
        check_space(&s);
        check_own_label(&s);
        check_label(&s, label);
    }
    free(source);
    must(mem_outstanding() == before);
    return 0;
}

// ---- where it begins ----------------------------------------------------------------------------
static void add_spaces(fuzz_add *add)
{
    static const char two[] = "#line 7 \"sum.cu\"\n"
                              "// %RANGE% TUNE_THREADS tpb 32:1024:32 cpu=1:256:1\n"
                              "// %RANGE% TUNE_ITEMS ipt 4:32:4\n"
                              "__global__ void sum() {}\n\0"
                              "ipt_16.tpb_64";
    static const char large[] = "// %RANGE% A a 0:99999999:1\r\n/// %RANGE% B b 0:99999999:3\n"
                                "//%RANGE% C c 7:7:1 cuda=8:80:8 cpu=9:9:9\0"
                                "a_99999999.b_3.c_8";
    text many = {0};
    for (int k = 0; k < MAX_PARAMETERS; k++)
        text_printf(&many, "// %%RANGE%% TUNE_LONG_NAME_%d longlabel%02d 10000000:10000007:1\n", k,
                    k);
    for (int k = 0; k < MAX_PARAMETERS; k++)
        text_printf(&many, "%clonglabel%02d_10000003", k ? '.' : '\0', k);
    must(text_done(&many) == CUBC_OK);
    static const char lists[] = "// %RANGE% TUNE_THREADS tpb 32,64,00128 cpu=7\n"
                                "// %RANGE% TUNE_TYPE t float,double,x_y cuda=a,b\n"
                                "// %RANGE% --maxrregcount= regs 32,64\n"
                                "// %RANGE% -ffast-math fm 0:1:1 cuda=0\n\0"
                                "t_x_y.tpb_7.regs_64.fm_1";
    static const char gone[] = "// %RANGE% TUNE_THREADS tpb 32:1024:32\n"
                               "// %GONE% lb 1\n// %GONE% sh 8 cpu=4\n\0"
                               "lb_1.tpb_64.sh_8";
    add("lists", lists, sizeof lists - 1);
    add("gone", gone, sizeof gone - 1);
    add("two", two, sizeof two - 1);
    add("large", large, sizeof large - 1);
    add("many", many.data, many.length);
    text_free(&many);
}

static const fuzz_word words[] = {
    FUZZ_WORD("%RANGE% "),    FUZZ_WORD("// %RANGE% TUNE_X x "),
    FUZZ_WORD("#line "),      FUZZ_WORD("0:99999999:1"),
    FUZZ_WORD(":100000000:"), FUZZ_WORD("-2147483648"),
    FUZZ_WORD("4294967360"),  FUZZ_WORD(" cpu="),
    FUZZ_WORD(" cuda="),      FUZZ_WORD("\n"),
    FUZZ_WORD("\0"),          FUZZ_WORD("tpb_"),
    FUZZ_WORD("."),           FUZZ_WORD("_"),
    FUZZ_WORD("+1"),          FUZZ_WORD("32,64"),
    FUZZ_WORD("float,x_y"),   FUZZ_WORD("--opt="),
    FUZZ_WORD("%GONE% "),     FUZZ_WORD("// %GONE% x 1"),
};

const fuzz_harness fuzz_target = {"spaces", 20000, add_spaces, words, COUNT_OF(words)};
