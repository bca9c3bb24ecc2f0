/* Goal: no bytes of a connection break the reader of its requests, cutting them
 * differently changes nothing, and an accepted request can be read in only one way: no
 * accepted head holds a control character, a folded line or a bare line feed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/framing.h"
#include "api/limits.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    size_t passed;
    uint64_t requests;
    const char *stand_in;
};

static void check_head(const char *head, size_t size)
{
    CHECK(size >= 4 && size <= LIMIT_HEAD);
    CHECK(memcmp(head + size - 4, "\r\n\r\n", 4) == 0);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)head[i];
        bool line_end = c == '\n' && i > 0 && head[i - 1] == '\r';
        bool return_of_it = c == '\r' && i + 1 < size && head[i + 1] == '\n';
        CHECK((c >= ' ' && c != 0x7f) || c == '\t' || line_end || return_of_it);
        CHECK(!line_end || i + 1 == size ||
              (head[i + 1] != ' ' && head[i + 1] != '\t'));
    }
}

/* Adds piece bytes at a time, in memory of exactly that size. */
static struct outcome read_in_pieces(const char *bytes, size_t size, size_t piece)
{
    struct framing framing = {0};
    size_t passed = 0, read = 0;
    char *kept = malloc(size + 1);
    CHECK(kept != NULL);
    memcpy(kept, bytes, size);
    while (read < size && framing_stand_in(&framing) == NULL) {
        read += piece < size - read ? piece : size - read;
        enum framing_state before = framing.state;
        uint64_t requests = framing.requests;
        char *exact = malloc(read - passed);
        CHECK(exact != NULL);
        memcpy(exact, kept + passed, read - passed);
        size_t step = framing_pass(&framing, exact, read - passed);
        memcpy(kept + passed, exact, read - passed); /* blanks may have moved */
        CHECK(step <= read - passed);
        /* With single bytes, what passes at once from here is one head. */
        if (piece == 1 && before == FRAMING_HEAD && framing.requests > requests &&
            framing_stand_in(&framing) == NULL)
            check_head(exact, step);
        free(exact);
        passed += step;
    }
    free(kept);
    CHECK((framing_stand_in(&framing) != NULL) == (framing.refusal.status != ST_OK));
    return (struct outcome){passed, framing.requests, framing_stand_in(&framing)};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct outcome whole = read_in_pieces(bytes, size, size),
                   single = read_in_pieces(bytes, size, 1);
    CHECK(whole.passed == single.passed && whole.requests == single.requests);
    CHECK((whole.stand_in == NULL) == (single.stand_in == NULL));
    CHECK(whole.stand_in == NULL || strcmp(whole.stand_in, single.stand_in) == 0);
    return 0;
}
