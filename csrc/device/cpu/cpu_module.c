// Compiled variants of the CPU device: see cpu_module.h.
#define _GNU_SOURCE
#include "device/cpu/cpu_module.h"

#include "device/cpu/cpu_traps.h"
#include "device/cpu/simt.h"
#include "device/cpu/simt_switch.h" // SIMT_ASAN
#include "device/cpu/temporary.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE }; // a file for any is taken
#endif

static bool lies_within(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

// Checks what the dynamic linker trusts: that the file is whole and for this machine. It maps
// segments as the headers say, and a page past the end of a file is a bus error.
static const char *what_is_wrong(const binary *code)
{
    Elf64_Ehdr header;
    if (code->size < sizeof header) return "it is too short";
    memcpy(&header, code->data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is no ELF file";
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        (OWN_MACHINE != EM_NONE && header.e_machine != OWN_MACHINE))
        return "it is no shared object for this machine";
    uint64_t table = (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
        !lies_within(header.e_phoff, table, code->size) ||
        !lies_within(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, code->size))
        return "it is truncated";
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, code->data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (!lies_within(segment.p_offset, segment.p_filesz, code->size)) return "it is truncated";
    }
    return NULL;
}

// Looks at the sections with instructions; without a table of sections nothing is known.
static bool file_may_trap(const binary *code, const Elf64_Ehdr *header)
{
    bool found = false;
    if (header->e_shentsize != sizeof(Elf64_Shdr)) return true;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, code->data + header->e_shoff + i * sizeof section, sizeof section);
        if (!(section.sh_flags & SHF_EXECINSTR) || section.sh_type != SHT_PROGBITS) continue;
        if (!lies_within(section.sh_offset, section.sh_size, code->size)) return true;
        if (cpu_may_trap(code->data + section.sh_offset, section.sh_size)) return true;
        found = true;
    }
    return !found;
}

// From the first to the last segment with instructions, of a file that is whole.
static void find_code(const binary *code, device_module *module)
{
    struct link_map *map;
    Elf64_Ehdr header;
    uint64_t begin = UINT64_MAX, end = 0;
    if (dlinfo(module->library, RTLD_DI_LINKMAP, &map) != 0) {
        module->may_trap = true;
        return;
    }
    memcpy(&header, code->data, sizeof header);
    module->may_trap = file_may_trap(code, &header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, code->data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
        if (segment.p_vaddr < begin) begin = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > end) end = segment.p_vaddr + segment.p_memsz;
    }
    if (begin >= end) return;
    module->code = (const char *)(uintptr_t)(map->l_addr + begin);
    module->code_bytes = (size_t)(end - begin);
}

// Debuggers and sanitizers read a library's file while it is loaded.
static bool must_keep_file(void)
{
    const char *extra = getenv("CUBC_CXXFLAGS");
    return SIMT_ASAN || (extra && strstr(extra, "-g"));
}

// The dynamic linker knows libraries by path, and the path of a descriptor comes back when its
// number is reused. Spelling a counter into it, as "./" for 1 and ".//" for 0, tells them apart.
static void unique_path(char *path, size_t size, int file)
{
    static atomic_uint loads;
    size_t used = (size_t)snprintf(path, size, "/proc/self/fd/");
    for (unsigned n = atomic_fetch_add(&loads, 1) + 1; n > 0 && used < size; n >>= 1)
        used += (size_t)snprintf(path + used, size - used, "%s", n & 1 ? "./" : ".//");
    if (used < size) snprintf(path + used, size - used, "%d", file);
}

static void *open_in_memory(const binary *code)
{
    char path[160];
    void *library = NULL;
    int file = memfd_create("cubc-variant", MFD_CLOEXEC);
    if (file < 0) return NULL;
    unique_path(path, sizeof path, file);
    if (file_write(file, code->data, code->size)) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(file);
    return library;
}

static cubc_status open_in_file(const binary *code, device_module *module)
{
    text path = {0};
    text_printf(&path, "%s/cubc-variant-XXXXXX", temporary_root());
    TRY(text_done(&path));
    module->kept = path.data;
    int file = mkstemp(path.data);
    if (file < 0) {
        int error = errno;
        module->kept = NULL;
        text_free(&path);
        FAIL(CUBC_IO_ERROR, "cannot make a file in %s: %s", temporary_root(), strerror(error));
    }
    bool written = file_write(file, code->data, code->size);
    close(file);
    if (!written) FAIL(CUBC_IO_ERROR, "cannot write %s", module->kept);
    module->library = dlopen(module->kept, RTLD_NOW | RTLD_LOCAL);
    return CUBC_OK;
}

static void remove_file(device_module *module)
{
    if (module->kept) unlink(module->kept);
    mem_free(module->kept);
    module->kept = NULL;
}

void cpu_module_unload(cubc_device *device, device_module *module)
{
    (void)device;
    if (!module) return;
    if (module->library) dlclose(module->library);
    remove_file(module);
    mem_free(module);
}

cubc_status cpu_module_check(const binary *code)
{
    const char *wrong = what_is_wrong(code);
    if (wrong) FAIL(CUBC_DEVICE_ERROR, "cannot load a compiled variant: %s", wrong);
    return CUBC_OK;
}

static cubc_status open_library(const binary *code, device_module *module)
{
    TRY(cpu_module_check(code));
    if (!must_keep_file()) module->library = open_in_memory(code);
    if (!module->library) TRY(open_in_file(code, module));
    if (!module->library) FAIL(CUBC_DEVICE_ERROR, "cannot load a compiled variant: %s", dlerror());
    if (!must_keep_file()) remove_file(module);
    const simt_api **runtime = dlsym(module->library, "simt");
    const uint64_t *size = dlsym(module->library, "simt_size");
    if (!runtime || !size || *size != sizeof simt_runtime)
        FAIL(CUBC_DEVICE_ERROR,
             "cannot load a compiled variant: it has no kernels of this cubc in it");
    *runtime = &simt_runtime;
    find_code(code, module);
    return CUBC_OK;
}

cubc_status cpu_module_load(cubc_device *device, const binary *code, device_module **out)
{
    device_module *module = mem_zalloc(1, sizeof *module);
    if (!module) return CUBC_NO_MEMORY;
    cubc_status status = open_library(code, module);
    if (status) {
        cpu_module_unload(device, module);
        return status;
    }
    *out = module;
    return CUBC_OK;
}
