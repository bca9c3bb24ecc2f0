/* fuzz_tokenizer - the files of tokenizers, and texts. The first byte selects the kind, its
 * options and whether byte pairs have a good vocabulary, to which the merges are the
 * fuzzer's; the other bytes are the files and two texts, with 0x1E between them. */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/byte_vocabulary_fixture.h"

enum { PARTS = 4, LENGTH = 48 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The parts are copies, so that a read behind one is seen. */
static void split(struct text parts[PARTS], const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < PARTS; i++) {
        const uint8_t *end = size > 0 ? memchr(data, 0x1E, size) : NULL;
        size_t part = end != NULL && i + 1 < PARTS ? (size_t)(end - data) : size;
        char *copy = malloc(part);
        CHECK(copy != NULL || part == 0);
        if (part > 0)
            memcpy(copy, data, part);
        parts[i] = (struct text){copy, part};
        size_t used = part < size ? part + 1 : part;
        data += used;
        size -= used;
    }
}

static void check_row(const struct tokenizer *t, const int32_t *ids, size_t length)
{
    bool ended = false;
    for (size_t i = 0; i < length; i++) {
        CHECK(ids[i] >= -1 && ids[i] < (int32_t)tokenizer_vocabulary(t));
        CHECK(!ended || ids[i] == -1);
        ended = ids[i] == -1;
    }
}

static void encode(const struct tokenizer *t, const struct text *texts, bool framed)
{
    int32_t ids[LENGTH], shorter[LENGTH];
    for (size_t count = 1; count <= (framed ? 2U : 1U); count++) {
        size_t frame = tokenizer_frame_size(t, count);
        CHECK(tokenizer_encode(t, texts, count, ids, LENGTH, NULL) == ST_OK);
        check_row(t, ids, LENGTH);
        CHECK(tokenizer_encode(t, texts, count, shorter, frame + 3, NULL) == ST_OK);
        check_row(t, shorter, frame + 3);
        CHECK(framed || memcmp(ids, shorter, 3 * sizeof *ids) == 0);
        CHECK(!framed || ids[0] == shorter[0]);
    }
}

static void open_and_encode(const struct tokenizer_kind *kind, const struct text *parts,
                            const struct tokenizer_options *options)
{
    struct tokenizer *t = NULL;
    struct error error = {0};
    char paths[TOKENIZER_FILES_MAX][64];
    int files[TOKENIZER_FILES_MAX];
    for (int i = 0; i < TOKENIZER_FILES_MAX; i++) {
        files[i] = memfd_create("tokenizer", MFD_CLOEXEC);
        CHECK(files[i] >= 0);
        CHECK(write(files[i], parts[i].bytes, parts[i].size) == (ssize_t)parts[i].size);
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", files[i]);
    }
    enum status status =
        tokenizer_open(&t, kind, (const char *[]){paths[0], paths[1]}, options, &error);
    for (int i = 0; i < TOKENIZER_FILES_MAX; i++)
        close(files[i]);
    if (status == ST_OK)
        encode(t, parts + 2, options->framed);
    else
        CHECK(status == ST_INVALID && error.text[0] != '\0');
    tokenizer_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tokens[] = {"ab",  "abab", "\\u0120a", "aa",
                                         "<s>", "</s>", NULL};
    static char vocabulary[BYTE_VOCABULARY_SIZE];
    if (size == 0)
        return 0;
    const struct tokenizer_kind *kind = tokenizer_kinds[data[0] & 1];
    const struct tokenizer_options options = {
        .lower = kind->has_lower && (data[0] & 2) != 0,
        .prefix_space = kind->has_prefix_space && (data[0] & 2) != 0,
        .framed = (data[0] & 4) != 0,
    };
    struct text parts[PARTS];
    split(parts, data + 1, size - 1);
    struct text chosen[PARTS] = {parts[0], parts[1], parts[2], parts[3]};
    if (kind == &byte_pair_tokenizer && (data[0] & 8) != 0)
        chosen[0] = byte_vocabulary(vocabulary, tokens);
    open_and_encode(kind, chosen, &options);
    for (size_t i = 0; i < PARTS; i++)
        free((void *)(uintptr_t)parts[i].bytes);
    return 0;
}
