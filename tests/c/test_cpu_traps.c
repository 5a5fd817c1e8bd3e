// The reading of x86-64 code: lengths by hand, those of a library as objdump reads it, and which
// compiled kernels are said to trap.
#define _GNU_SOURCE // dladdr
#include "cpu_fixture.h"
#include "device/cpu/cpu_traps.h"

#if defined(__x86_64__)
#include <dlfcn.h>
#include <elf.h>
#include <math.h>
#include <unistd.h>

static void test_lengths(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        bool traps;
    } cases[] = {
        {"\xc3", 1, false},                                      // ret
        {"\xf3\x0f\x1e\xfa", 4, false},                          // endbr64
        {"\x48\x89\xf7", 3, false},                              // mov %rsi, %rdi
        {"\x0f\x83\xce\xf7\xff\xff", 6, false},                  // jae
        {"\xe9\x76\xf6\xff\xff", 5, false},                      // jmp
        {"\x48\xb8\xf7\xf7\xf7\xf7\xf7\xf7\xf7\xf7", 10, false}, // movabs
        {"\xb8\xf7\xf7\xf7\xf7", 5, false},                      // mov
        {"\x66\xb8\xf7\xf7", 4, false},                          // movw
        {"\x48\x8b\x54\x24\x30", 5, false},                      // mov 0x30(%rsp), %rdx
        {"\x48\x8b\x05\xf7\xf7\xf7\xf7", 7, false},              // mov 0x..(%rip), %rax
        {"\x48\x8b\x04\x25\xf7\xf7\xf7\xf7", 8, false},          // mov 0x.., %rax
        {"\xc8\x10\x00\x00", 4, false},                          // enter
        {"\xf7\xc1\xf7\xf7\xf7\xf7", 6, false},                  // test $0x.., %ecx
        {"\x66\xf7\xc1\xf7\xf7", 5, false},                      // test $0x.., %cx
        {"\xf6\xc1\xf7", 3, false},                              // test $0x.., %cl
        {"\xf7\xd9", 2, false},                                  // neg %ecx
        {"\xf7\xe1", 2, false},                                  // mul %ecx
        {"\xf7\xf1", 2, true},                                   // div %ecx
        {"\x49\xf7\xfb", 3, true},                               // idiv %r11
        {"\xf6\xf1", 2, true},                                   // div %cl
        {"\xf7\xbc\x24\x80\x00\x00\x00", 7, true},               // idivl 0x80(%rsp)
        {"\x0f\x0b", 2, true},                                   // ud2
        {"\x0f\xb9\x40\x10", 4, true},                           // ud1 0x10(%rax), %eax
        {"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, false}, // cs nopw
        {"\x66\x0f\x73\xf9\xf7", 5, false},                      // pslldq
        {"\x66\x0f\x3a\x0f\xc1\xf7", 6, false},                  // palignr
        {"\x66\x0f\x38\x00\xc1", 5, false},                      // pshufb
        {"\xc5\xf8\x77", 3, false},                              // vzeroupper
        {"\xc5\xfa\x11\x44\x24\x40", 6, false},                  // vmovss
        {"\xc5\xf9\x70\xc1\xf7", 5, false},                      // vpshufd
        {"\xc4\xc1\x7a\x58\x44\x00\x18", 7, false},              // vaddss
        {"\xc4\xe3\x7d\x19\xc1\xf7", 6, false},                  // vextractf128
        {"\x62\xf1\x7c\x48\x58\x44\x24\x01", 8, false},          // vaddps, zmm
        {"\x62\xf3\x75\x48\x25\xc2\xf7", 7, false},              // vpternlogd
        {"\xf0\x48\x0f\xb1\x0a", 5, false},                      // lock cmpxchg
        {"\x66\xe9\x00\x00\x00\x00", 0, false},                  // processors differ
        {"\x06\x00", 0, false},                                  // none of 64-bit code
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        uint8_t code[16] = {0};
        bool traps = false;
        memcpy(code, cases[k].bytes, cases[k].length ? cases[k].length : 2);
        size_t length = cpu_instruction(code, sizeof code, &traps);
        if (!CHECK(length == cases[k].length && traps == cases[k].traps))
            printf("  of case %zu: length %zu, traps %d\n", k, length, traps);
        for (size_t size = 0; size < length; size++)
            CHECK(cpu_instruction(code, size, &traps) == 0);
    }
}

// ---- a whole library
// ------------------------------------------------------------------------------ The line of
// objdump that is compared with the next one.
typedef struct instruction {
    uint64_t at;
    bool known, traps; // known: at an address, not a title
} instruction;

static instruction read_line(const char *line)
{
    char *end, name[16] = "";
    instruction it = {.at = strtoull(line, &end, 16)};
    it.known = end != line && strncmp(end, ":\t", 2) == 0;
    if (!it.known || sscanf(end, ":%15s", name) != 1) return it;
    for (const char *word = name; *word; word++)
        if (strchr("bwlq", *word) && !word[1]) name[word - name] = '\0';
    it.traps = !strcmp(name, "div") || !strcmp(name, "idiv") || !strncmp(name, "ud", 2);
    return it;
}

static uint64_t file_offset(const text *file, uint64_t address) // 0: nowhere
{
    Elf64_Ehdr header;
    memcpy(&header, file->data, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr s;
        memcpy(&s, file->data + header.e_phoff + i * sizeof s, sizeof s);
        if (s.p_type == PT_LOAD && address - s.p_vaddr < s.p_filesz)
            return address - s.p_vaddr + s.p_offset;
    }
    return 0;
}

// objdump writes two as one, as in fwait and fstcw.
static bool reads_alike(const uint8_t *code, uint64_t bytes, bool traps)
{
    bool found = false;
    for (uint64_t i = 0; i < bytes;) {
        bool here = false;
        size_t length = cpu_instruction(code + i, bytes - i, &here);
        if (length == 0) return false;
        found = found || here;
        i += length;
    }
    return found == traps;
}

static void test_a_library_as_objdump_reads_it(void)
{
    Dl_info library;
    text file = {0};
    char command[600], line[1000];
    instruction last = {0};
    long compared = 0, wrong = 0;
    if (system("objdump --version > /dev/null 2>&1") != 0) {
        printf("no objdump: nothing to compare with\n");
        return;
    }
    double (*function)(double) = sin;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (!CHECK(dladdr(address, &library) != 0) || !CHECK(file_read(library.dli_fname, &file) == 0))
        return;
    snprintf(command, sizeof command, "objdump -d -w --no-show-raw-insn '%s'", library.dli_fname);
    FILE *listing = popen(command, "r");
    while (listing && fgets(line, sizeof line, listing)) {
        instruction next = read_line(line);
        uint64_t bytes = next.at - last.at, offset = file_offset(&file, last.at);
        if (last.known && next.known && bytes <= 15 && offset) {
            bool alike = reads_alike((const uint8_t *)file.data + offset, bytes, last.traps);
            if (!alike && wrong++ < 10) printf("at %llx\n", (unsigned long long)last.at);
            compared++;
        }
        last = next;
    }
    if (listing) pclose(listing);
    text_free(&file);
    CHECK(wrong == 0);
    CHECK(compared > 10000);
}

// ---- kernels
// --------------------------------------------------------------------------------------
static bool traps(const char *expression)
{
    char body[400];
    device_module *module = NULL;
    device_kernel kernel = {0};
    cubc_device *device = open_with("1", "0");
    snprintf(body, sizeof body,
             "struct args_t { u64* out; u64* in; u64 n; u64 mode; };\n"
             "struct shared_t { u64 value[1]; };\n"
             "KERNEL(k, args_t, shared_t) { a.out[0] = u64(%s); }\n",
             expression);
    char *source = source_text("1", "1", body, "");
    CHECK_STATUS(build_source(device, source, &module), CUBC_OK);
    CHECK_STATUS(device_cpu_api.kernel(device, module, "k", 1, &kernel), CUBC_OK);
    device_cpu_api.unload(device, module);
    device_cpu_api.close(device);
    mem_free(source);
    return kernel.may_trap;
}

static void test_kernels(void)
{
    CHECK(traps("a.n / a.mode"));
    CHECK(traps("i64(a.n) % i64(a.mode)"));
    CHECK(traps("u32(a.n) / u32(a.mode)"));
    CHECK(traps("a.n ? a.mode : (__builtin_trap(), 0)"));
    CHECK(!traps("a.n"));
    CHECK(!traps("a.n / 10 + a.mode % 7"));
    CHECK(!traps("double(a.n) / double(a.mode)"));
    CHECK(!traps("a.n ^ 0xf7f6f7f6f7f6f7f6ull")); // the bytes of divisions in a constant
    CHECK(!traps("a.n ^ 0x0b0f0b0f0b0f0b0full"));
}

static const check_test tests[] = {
    {"lengths", test_lengths},
    {"a library as objdump reads it", test_a_library_as_objdump_reads_it},
    {"kernels", test_kernels},
};

int main(int argc, char **argv)
{
    long before = outstanding_at_start();
    int failed = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    CHECK(mem_outstanding() == before);
    return failed || mem_outstanding() != before;
}
#else
int main(void)
{
    printf("no x86-64: nothing to read\n");
    return 0;
}
#endif
