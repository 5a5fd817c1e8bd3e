// Runs a fuzzer's entry point without libFuzzer, over small files of every format with a few random
// changes each: what any compiler's sanitizers can do in seconds.
//
//     fuzz_gauge [RUNS [SEED]]    20000 runs unless told; a run is repeated by its seed
//     fuzz_gauge --seeds FOLDER   write the unchanged files there, for libFuzzer to begin with
#define _XOPEN_SOURCE 700 // mkdtemp
#include "base.h"
#include "cubc_lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// No honest field here is so large: whoever asks for more has believed its file.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=8";
}

// ---- files --------------------------------------------------------------------------------------
enum { SITES = 4, REALS = SITES * 288, ROOM = 1 << 17 };
static double field[REALS];

static void must(cubc_status st)
{
    if (!st) return;
    printf("%s\n", cubc_error_message());
    exit(1);
}

static void set_unit(void)
{
    memset(field, 0, sizeof field);
    for (int link = 0; link < SITES * 4; link++)
        for (int k = 0; k < 3; k++) field[18 * link + 8 * k] = 1;
}

static const struct {
    const char *name;
    cubc_field_write_params params;
} wanted[] = {
    {"ildg", {field, CUBC_FIELD_GAUGE, {1, 2, 1, 2}, 64, 3, "ildg"}},
    {"ildg-single", {field, CUBC_FIELD_GAUGE, {2, 1, 1, 1}, 32, 3, "ildg"}},
    {"scidac", {field, CUBC_FIELD_PROPAGATOR, {1, 1, 2, 1}, 32, 3, "scidac"}},
    {"nersc", {field, CUBC_FIELD_GAUGE, {1, 1, 2, 2}, 64, 3, "nersc"}},
    {"nersc-rows", {field, CUBC_FIELD_GAUGE, {2, 1, 1, 2}, 32, 2, "nersc"}},
};
enum { WRITTEN = COUNT_OF(wanted), MILC = WRITTEN, FILES };
static text files[FILES];

// Of one site. Nobody writes these here, so its checksum is known by counting: of unit links words
// 0, 8 and 16 of each 18 are 1.0f, at 12 places rotated by what 29 and 31 leave of their index.
static void make_milc(text *out)
{
    uint32_t head[24] = {20103, 1, 1, 1, 1}, one = 0x3f800000, words[72] = {0};
    for (unsigned k = 0; k < 72; k++) {
        unsigned by29 = k % 29, by31 = k % 31;
        if (k % 18 % 8 == 0) {
            words[k] = one;
            head[22] ^= by29 ? one << by29 | one >> (32 - by29) : one;
            head[23] ^= by31 ? one << by31 | one >> (32 - by31) : one;
        }
    }
    text_append(out, (const char *)head, sizeof head);
    text_append(out, (const char *)words, sizeof words);
}

static void make_files(const char *folder, bool keep)
{
    set_unit();
    for (int k = 0; k < FILES; k++) {
        text path = {0};
        text_printf(&path, "%s/%s", folder, k < WRITTEN ? wanted[k].name : "milc");
        must(text_done(&path));
        if (k == MILC) {
            make_milc(&files[k]);
            FILE *out = keep ? fopen(path.data, "wb") : NULL;
            if (out && fwrite(files[k].data, files[k].length, 1, out) != 1) exit(1);
            if (out) fclose(out);
        } else {
            must(cubc_field_write(path.data, &wanted[k].params));
            must(file_read(path.data, &files[k]));
            if (!keep) unlink(path.data);
        }
        text_free(&path);
    }
}

// What is unchanged must be read, or the changes are those of files that are refused anyway.
static void check_files(const char *folder)
{
    for (int k = 0; k < FILES; k++) {
        text path = {0};
        cubc_field_file *opened;
        text_printf(&path, "%s/unchanged", folder);
        FILE *out = fopen(path.data, "wb");
        if (!out || fwrite(files[k].data, files[k].length, 1, out) != 1) exit(1);
        fclose(out);
        must(cubc_field_open(path.data, 0, &opened));
        must(cubc_field_read(opened, field, (size_t)cubc_field_describe(opened)->bytes));
        cubc_field_close(opened);
        unlink(path.data);
        text_free(&path);
    }
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
        0x456789ab00018000,
    };
    uint64_t value = values[draw(COUNT_OF(values))];
    return draw(2) ? value : __builtin_bswap64(value);
}

static void overwrite(uint8_t *at, size_t length)
{
    static const char *const words[] = {"4294967296", "-1",  "0",   "<",
                                        "<!--",       "]]>", "&a;", "LITTLE"};
    const char *word = words[draw(COUNT_OF(words))];
    uint64_t value = interesting();
    bool number = draw(2);
    size_t size = number ? sizeof value : strlen(word);
    memcpy(at, number ? (const void *)&value : word, size < length ? size : length);
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

int main(int argc, char **argv)
{
    static uint8_t bytes[ROOM];
    const char *base = getenv("TMPDIR");
    char folder[256];
    bool keep = argc == 3 && strcmp(argv[1], "--seeds") == 0;
    long runs = argc > 1 && !keep ? strtol(argv[1], NULL, 10) : 20000;
    uint64_t seed = argc > 2 && !keep ? strtoull(argv[2], NULL, 10) : 1;
    snprintf(folder, sizeof folder, "%s/cubc-fuzz-XXXXXX", base ? base : "/tmp");
    if (!keep && !mkdtemp(folder)) return 1;
    make_files(keep ? argv[2] : folder, keep);
    if (keep) return 0;
    check_files(folder);
    rmdir(folder);
    for (long run = 0; run < runs; run++) {
        state = (seed + (uint64_t)run) * 0x9e3779b97f4a7c15 | 1;
        const text *from = &files[draw(FILES)];
        size_t length = from->length;
        memcpy(bytes, from->data, length);
        for (uint64_t k = draw(4) + 1; k > 0; k--) length = change(bytes, length);
        LLVMFuzzerTestOneInput(bytes, length);
    }
    for (int k = 0; k < FILES; k++) text_free(&files[k]);
    printf("%ld files, seeds %llu to %llu\n", runs, (unsigned long long)seed,
           (unsigned long long)(seed + (uint64_t)runs - 1));
    return 0;
}
