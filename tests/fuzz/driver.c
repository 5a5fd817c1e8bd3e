// Runs a harness without libFuzzer, over its honest inputs with a few random changes each: what any
// compiler's sanitizers can do in seconds.
//
//     fuzz_<name> [RUNS [SEED]]    a run is repeated by its seed; without RUNS as many as it asks
//     for fuzz_<name> --seeds FOLDER DICTIONARY    writes the honest inputs and words for libFuzzer
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 17, MAX_INPUTS = 64 };

// No honest field here is so large: whoever asks for more has believed its input.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=8";
}

// ---- honest inputs ------------------------------------------------------------------------------
static struct input {
    uint8_t *bytes;
    size_t length;
} inputs[MAX_INPUTS];
static size_t input_count;
static const char *seed_folder; // NULL: inputs are not written

static void require(bool holds, const char *problem)
{
    if (holds) return;
    printf("fuzz: %s\n", problem);
    exit(1);
}

static void take(const char *name, const void *bytes, size_t length)
{
    require(input_count < MAX_INPUTS && length <= ROOM,
            "too many honest inputs, or too long a one");
    struct input *i = &inputs[input_count++];
    *i = (struct input){malloc(length + 1), length};
    require(i->bytes != NULL, "no memory");
    memcpy(i->bytes, bytes, length);
    if (!seed_folder) return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", seed_folder, name);
    FILE *out = fopen(path, "wb");
    bool written = out && fwrite(bytes, 1, length, out) == length;
    require(out && !fclose(out) && written, "cannot write a seed");
}

static void write_dictionary(const char *path)
{
    FILE *out = fopen(path, "w");
    require(out != NULL, "cannot write the dictionary");
    for (size_t k = 0; k < fuzz_target.word_count; k++) {
        fputc('"', out);
        for (size_t i = 0; i < fuzz_target.words[k].length; i++)
            fprintf(out, "\\x%02x", (unsigned char)fuzz_target.words[k].bytes[i]);
        fputs("\"\n", out);
    }
    require(!fclose(out), "cannot write the dictionary");
}

// ---- changes ------------------------------------------------------------------------------------
static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (state >> 11) % below : 0;
}

static uint64_t interesting(void)
{
    static const uint64_t values[] = {
        0,
        1,
        7,
        8,
        144,
        UINT64_MAX,
        (uint64_t)1 << 63,
        ((uint64_t)1 << 63) - 1,
        UINT64_MAX - 7,
        (uint64_t)1 << 32,
        ((uint64_t)1 << 31) - 1,
        (uint64_t)0x7ff << 52,
    };
    uint64_t value = values[draw(sizeof values / sizeof *values)];
    return draw(2) ? value : __builtin_bswap64(value);
}

static void overwrite(uint8_t *at, size_t length)
{
    static const fuzz_word common[] = {FUZZ_WORD("4294967296"), FUZZ_WORD("-1"),  FUZZ_WORD("0"),
                                       FUZZ_WORD("<"),          FUZZ_WORD("]]>"), FUZZ_WORD("&a;")};
    size_t own = fuzz_target.word_count, pick = draw(own + sizeof common / sizeof *common);
    fuzz_word word = pick < own ? fuzz_target.words[pick] : common[pick - own];
    uint64_t value = interesting();
    bool number = draw(3) == 0;
    size_t size = number ? sizeof value : word.length;
    memcpy(at, number ? (const void *)&value : word.bytes, size < length ? size : length);
}

// One change; returns the new length, which is at most ROOM.
static size_t change(uint8_t *bytes, size_t length)
{
    if (length == 0) return 0;
    // Half of them in the first kilobytes, where the headers are.
    size_t at = (size_t)draw(draw(2) && length > 2000 ? 2000 : length);
    size_t rest = length - at, size = (size_t)draw(rest < 300 ? rest : 300);
    switch (draw(7)) {
    case 0: bytes[at] ^= (uint8_t)(1 << draw(8)); return length;
    case 1: bytes[at] = (uint8_t)draw(256); return length;
    case 2: bytes[at] = (uint8_t)('0' + draw(10)); return length;
    case 3: overwrite(bytes + at, rest); return length;
    case 4: return at; // cut
    case 5:            // a part is missing
        memmove(bytes + at, bytes + at + size, rest - size);
        return length - size;
    default: // or there twice
        if (length + size > ROOM) return length;
        memmove(bytes + at + size, bytes + at, rest);
        return length + size;
    }
}

// An array of its own, so that a sanitizer sees a read past the input's end.
static void run_once(const uint8_t *bytes, size_t length)
{
    uint8_t *exact = malloc(length ? length : 1);
    require(exact != NULL, "no memory");
    memcpy(exact, bytes, length);
    LLVMFuzzerTestOneInput(exact, length);
    free(exact);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[ROOM];
    if (argc == 4 && strcmp(argv[1], "--seeds") == 0) {
        seed_folder = argv[2];
        fuzz_target.seeds(take);
        write_dictionary(argv[3]);
        return 0;
    }
    long runs = argc > 1 ? strtol(argv[1], NULL, 10) : fuzz_target.runs;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    fuzz_target.seeds(take);
    for (size_t k = 0; k < input_count; k++) run_once(inputs[k].bytes, inputs[k].length);
    for (long run = 0; run < runs; run++) {
        state = (seed + (uint64_t)run) * 0x9e3779b97f4a7c15 | 1;
        const struct input *from = &inputs[draw(input_count)];
        size_t length = from->length;
        memcpy(bytes, from->bytes, length);
        for (uint64_t k = draw(4) + 1; k > 0; k--) length = change(bytes, length);
        run_once(bytes, length);
    }
    for (size_t k = 0; k < input_count; k++) free(inputs[k].bytes);
    printf("%ld %s, seeds %llu to %llu\n", runs, fuzz_target.noun, (unsigned long long)seed,
           (unsigned long long)(seed + (uint64_t)runs - 1));
    return 0;
}
