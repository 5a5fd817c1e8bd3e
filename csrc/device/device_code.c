// The parts of a compilation that all back ends share: the number of an architecture, marks in a
// source, the end of the code. They are apart from device.c, which knows the back ends.
#include "device/device.h"

#include <string.h>

int device_arch_number(const char *arch)
{
    int number = 0;
    if (device_is_cpu(arch)) return 0;
    if (strncmp(arch, "sm_", 3) != 0) return -1;
    for (arch += 3; *arch >= '0' && *arch <= '9' && number < 10000; arch++)
        number = number * 10 + (*arch - '0');
    if (*arch == 'a' || *arch == 'f') arch++;
    return *arch == '\0' && number > 0 ? number : -1;
}

bool device_source_rounds(const char *source)
{
    return strstr(source, "\n#define SIMT_ROUNDED 1\n") != NULL;
}

cubc_status device_source_options(const char *source, text *out)
{
    static const char mark[] = "// %OPTION% ";
    for (const char *at = source; (at = strstr(at, mark)); at++) {
        if (at > source && at[-1] != '\n') continue;
        const char *option = at + sizeof mark - 1;
        size_t length = strspn(option, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-+.=");
        if (*option != '-' || (option[length] && !strchr("\r\n", option[length])))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "\"%.*s\" is no option: one begins with - and has letters, digits and _-+.= only",
                 (int)strcspn(option, "\r\n"), option);
        text_puts(out, " ");
        text_append(out, option, length);
    }
    return text_done(out);
}

void binary_free(binary *code)
{
    if (!code) return;
    mem_free(code->data);
    *code = (binary){0};
}
