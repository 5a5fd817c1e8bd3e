// The lengths of x86-64's instructions; see cpu_traps.h.
//
// An instruction is prefixes, an opcode from one of several maps, most often a byte that names the
// operands (ModRM) with an address behind it, and a constant. The maps say by a letter what follows
// an opcode.
#include "device/cpu/cpu_traps.h"

#include <string.h>

#if defined(__x86_64__)

// .  nothing more          1  a constant of one byte     2  of two     3  of two and one
// m  operands              z  of four, or two with 66    4  a distance of four
// b  operands and 1        w  operands and z             i  of eight with REX.W, else z
// f  operands; test, not, neg, mul, or a division        8  an address
// t  nothing more: it traps                              x  unknown
// u  operands: it traps
static const char one_byte[] = "mmmm1zxxmmmm1zxx" // 0x00; prefixes and escapes are not looked up
                               "mmmm1zxxmmmm1zxx"
                               "mmmm1zxxmmmm1zxx"
                               "mmmm1zxxmmmm1zxx"
                               "xxxxxxxxxxxxxxxx" // 0x40
                               "................"
                               "xxxmxxxxzw1b...."
                               "1111111111111111"
                               "bwxbmmmmmmmmmmmx" // 0x80
                               "..........x....."
                               "8888....1z......"
                               "11111111iiiiiiii"
                               "bb2.xxbw3.2..1x." // 0xc0
                               "mmmmxxx.mmmmmmmm"
                               "1111111144x1...."
                               "x.xx..ff......mm";
static const char after_0f[] = "mmmmx.....xtxm.b" // 0x00
                               "mmmmmmmmmmmmmmmm"
                               "xxxxxxxxmmmmmmmm"
                               "......x.xxxxxxxx"
                               "mmmmmmmmmmmmmmmm" // 0x40
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "bbbbmmm.xxxxmmmm"
                               "4444444444444444" // 0x80
                               "mmmmmmmmmmmmmmmm"
                               "...mbmxx...mbmmm"
                               "mmmmmmmmmubmmmmm"
                               "mmbmbbbm........" // 0xc0
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmm"
                               "mmmmmmmmmmmmmmmu";

enum { LONGEST = 15, WORD = 0x66, ESCAPE = 0x0f, VEX3 = 0xc4, VEX2 = 0xc5, EVEX = 0x62 };

static bool is_prefix(uint8_t byte)
{
    static const uint8_t all[] = {WORD, 0x67, 0xf0, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};
    return memchr(all, byte, sizeof all) != NULL;
}

// Vector instructions name their map by a number, and have operands.
static char after_vector_prefix(unsigned map, uint8_t opcode)
{
    switch (map) {
    case 1: return after_0f[opcode] == 'b' || opcode == 0x77 ? after_0f[opcode] : 'm';
    case 2:
    case 5:
    case 6: return 'm';
    case 3: return 'b';
    default: return 'x';
    }
}

static size_t operand_bytes(const uint8_t *at)
{
    unsigned mode = at[0] >> 6, base = at[0] & 7;
    size_t bytes = 1;
    if (mode == 3) return bytes;
    if (base == 4) {
        base = at[1] & 7;
        bytes = 2;
    }
    if (mode == 0) return base == 5 ? bytes + 4 : bytes;
    return bytes + (mode == 1 ? 1 : 4);
}

static bool divides(const uint8_t *operands)
{
    return (operands[0] >> 3 & 7) >= 6;
}

size_t cpu_instruction(const uint8_t *code, size_t size, bool *traps)
{
    uint8_t b[3 * LONGEST] = {0}; // whatever the bytes say, it ends in here
    size_t i = 0, constant = 4;
    bool wide = false, word = false, far = false;
    char kind;
    memcpy(b, code, size < LONGEST ? size : LONGEST);
    for (; i < LONGEST && is_prefix(b[i]); i++) {
        word = word || b[i] == WORD;
        far = far || b[i] == 0x67;
    }
    if ((b[i] & 0xf0) == 0x40) wide = b[i++] & 8; // REX
    if (word && !wide) constant = 2;
    if (b[i] == VEX2) {
        kind = after_vector_prefix(1, b[i + 2]);
        i += 3;
    } else if (b[i] == VEX3) {
        kind = after_vector_prefix(b[i + 1] & 0x1f, b[i + 3]);
        i += 4;
    } else if (b[i] == EVEX) {
        kind = after_vector_prefix(b[i + 1] & 0x0f, b[i + 4]);
        i += 5;
    } else if (b[i] == ESCAPE && (b[i + 1] == 0x38 || b[i + 1] == 0x3a)) {
        kind = b[i + 1] == 0x38 ? 'm' : 'b';
        i += 3;
    } else if (b[i] == ESCAPE) {
        kind = after_0f[b[i + 1]];
        i += 2;
    } else {
        kind = one_byte[b[i++]];
    }

    *traps = kind == 't' || kind == 'u' || (kind == 'f' && divides(b + i));
    if (kind == 'f') kind = b[i] >> 3 & 6 ? 'm' : b[i - 1] & 1 ? 'w' : 'b';
    if (strchr("mbwu", kind)) i += operand_bytes(b + i);
    switch (kind) {
    case '1':
    case 'b': i += 1; break;
    case '2': i += 2; break;
    case '3': i += 3; break;
    case '4':
        if (constant != 4) return 0; // processors differ
        i += 4;
        break;
    case 'w':
    case 'z': i += constant; break;
    case 'i': i += wide ? 8 : constant; break;
    case '8':
        if (far) return 0;
        i += 8;
        break;
    case 'x': return 0;
    default: break;
    }
    return i <= size && i <= LONGEST ? i : 0;
}

bool cpu_may_trap(const uint8_t *code, size_t size)
{
    for (size_t i = 0, bytes; i < size; i += bytes) {
        bool traps;
        bytes = cpu_instruction(code + i, size - i, &traps);
        if (bytes == 0 || traps) return true;
    }
    return false;
}

#else

size_t cpu_instruction(const uint8_t *code, size_t size, bool *traps)
{
    (void)code, (void)size;
    *traps = true;
    return 0;
}

bool cpu_may_trap(const uint8_t *code, size_t size)
{
    (void)code;
    return size > 0;
}
#endif
