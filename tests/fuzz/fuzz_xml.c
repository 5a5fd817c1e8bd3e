// The XML of lattice files: the input is a document, and whatever it is, each question is answered
// from within its bytes, and answers of different questions agree.
#include "base/base.h"
#include "fuzz.h"
#include "lattice/io/scidac.h"

#include <stdio.h>
#include <string.h>

static const char *const elements[] = {"a", "lx", "dims", "suma", "precision"};

static void ask(const xml *x, const char *element)
{
    bool there = false;
    uint64_t number = 0;
    char word[64]; // as many as xml_number reads
    cubc_status has = xml_has(x, element, &there);
    cubc_status has_text = xml_text(x, element, word, sizeof word);
    must(has == CUBC_OK || has == CUBC_IO_ERROR);
    if (has_text == CUBC_OK) {
        must(has == CUBC_OK && there);
        must(strlen(word) < sizeof word && strlen(word) <= x->length);
    }
    if (xml_number(x, element, 10, 3, 4096, &number) == CUBC_OK) {
        char digits[32];
        must(has_text == CUBC_OK && number >= 3 && number <= 4096);
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
        must(strcmp(word + strspn(word, "0"), digits) == 0);
    }
    if (xml_number(x, element, 16, 0, UINT32_MAX, &number) == CUBC_OK)
        must(has_text == CUBC_OK && number <= UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    long before = mem_outstanding();
    xml x = {(const char *)data, size, "the document at byte 0"};
    scidac about = {0};
    uint32_t sums[2];
    for (size_t k = 0; k < COUNT_OF(elements); k++) ask(&x, elements[k]);
    if (scidac_file(&x, &about) == CUBC_OK)
        for (int k = 0; k < 4; k++) must(about.extent[k] > 0 && about.extent[k] <= INT32_MAX);
    if (scidac_record(&x, &about) == CUBC_OK) {
        disk_field f = disk_field_new("scidac", CUBC_FIELD_SPINOR);
        must(about.item_bytes > 0 && about.items > 0);
        if (scidac_kind(&about, x.what, &f) == CUBC_OK)
            must(disk_field_site_bytes(&f) == about.item_bytes * about.items);
    }
    if (scidac_checksum(&x, sums) != CUBC_OK) must(cubc_error_message()[0] != '\0');
    must(mem_outstanding() == before);
    return 0;
}

// ---- where it begins ----------------------------------------------------------------------------
static void seeds(fuzz_add *add)
{
    static const char *const documents[] = {
        "<?xml version=\"1.0\"?><scidacFile><version>1.1</version><spacetime>4</spacetime>"
        "<dims>4 4 4 8 </dims><volfmt>0</volfmt></scidacFile>",
        "<scidacRecord><recordtype>0</recordtype><datatype>QDP_D3_ColorMatrix</datatype>"
        "<precision>D</precision><typesize>144</typesize><datacount>4</datacount></scidacRecord>",
        "<scidacChecksum>\n<suma>0x30ce3715</suma>\n<sumb>422e142</sumb></scidacChecksum>",
        "<a><!-- <lx>9</lx> --><lx> 4 </lx><b q='1'/></a>",
    };
    for (size_t k = 0; k < COUNT_OF(documents); k++) {
        char name[16];
        snprintf(name, sizeof name, "%zu", k);
        add(name, documents[k], strlen(documents[k]));
    }
}

static const fuzz_word words[] = {
    FUZZ_WORD("<a>"),    FUZZ_WORD("</a>"),         FUZZ_WORD("<lx>"),
    FUZZ_WORD("</lx>"),  FUZZ_WORD("<dims>"),       FUZZ_WORD("</dims>"),
    FUZZ_WORD("<suma>"), FUZZ_WORD("</suma>"),      FUZZ_WORD("<precision>"),
    FUZZ_WORD("0x"),     FUZZ_WORD("<typesize>"),   FUZZ_WORD("<datacount>"),
    FUZZ_WORD("<!--"),   FUZZ_WORD("-->"),          FUZZ_WORD("<!DOCTYPE"),
    FUZZ_WORD("<?"),     FUZZ_WORD("?>"),           FUZZ_WORD("<![CDATA["),
    FUZZ_WORD("/>"),     FUZZ_WORD("<globaldata>"), FUZZ_WORD("4294967296"),
};

const fuzz_harness fuzz_target = {"documents", 20000, seeds, words, COUNT_OF(words)};
