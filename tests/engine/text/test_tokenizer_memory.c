/* Goal: a tokenizer for which there is no memory says so, and loses none. Method: each
 * allocation of opening and encoding but the smallest fails in turn, through the test's
 * own malloc; not under the sanitizers, which replace malloc themselves. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
    skip_part("a sanitizer has an allocator of its own");
    return 0;
}

#else

#include "tests/engine/text/byte_vocabulary_fixture.h"
#include "tests/engine/text/tokenizer_fixture.h"

static long left = -1; /* allocations until one fails; negative: none does */
static long alive;     /* blocks since the count began */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

/* jansson takes a token's text for malformed if it has no memory for it. */
enum { TOKEN_TEXT_MAX = 20 };

static bool refused(size_t size)
{
    return size > TOKEN_TEXT_MAX && left >= 0 && left-- == 0;
}

void *malloc(size_t size)
{
    void *block = refused(size) ? NULL : __libc_malloc(size);
    alive += block != NULL;
    return block;
}

void *calloc(size_t count, size_t size)
{
    void *block = refused(count * size) ? NULL : __libc_calloc(count, size);
    alive += block != NULL;
    return block;
}

void *realloc(void *block, size_t size)
{
    void *moved = refused(size) ? NULL : __libc_realloc(block, size);
    alive += moved != NULL && block == NULL;
    return moved;
}

void free(void *block)
{
    alive -= block != NULL;
    __libc_free(block);
}

/* Opens and encodes until no allocation fails. An opening may survive one: qsort then
 * sorts in place. */
static void refuse_each(const struct tokenizer_kind *kind, const struct text *files,
                        struct tokenizer_options options)
{
    static const char words[] = "ab abab \u00e9 ab";
    struct text texts[] = {{words, sizeof words - 1}, {words, 5}};
    int32_t ids[32];
    long failures = 0;
    for (long n = 0, begun = alive; left < 0; n++) {
        struct tokenizer *t = NULL;
        struct error error = {0};
        left = n;
        enum status status = open_texts(&t, kind, files, options, &error);
        if (status == ST_OK)
            status =
                tokenizer_encode(t, texts, options.framed ? 2 : 1, ids, 32, &error);
        tokenizer_close(t);
        assert_int_equal(alive, begun);
        if (left >= 0) { /* none failed */
            assert_int_equal(status, ST_OK);
            break;
        }
        failures += status != ST_OK;
        /* A file whose buffer cannot be allocated cannot be opened. */
        assert_true(status == ST_OK || status == ST_NO_MEMORY || status == ST_IO);
        assert_true(status == ST_OK || error.text[0] != '\0');
    }
    left = -1;
    assert_true(failures > 5);
}

static void a_failing_allocation_is_reported(void **state)
{
    static const char *const tokens[] = {"ab", "abab", "<s>", "</s>", NULL};
    static char vocabulary[BYTE_VOCABULARY_SIZE];
    struct text words = TEXT("[UNK]\n[CLS]\n[SEP]\nab\n##ab\n");
    struct text pairs[] = {byte_vocabulary(vocabulary, tokens), TEXT("a b\nab ab\n")};
    (void)state;
    refuse_each(&wordpiece_tokenizer, &words,
                (struct tokenizer_options){.lower = true, .framed = true});
    refuse_each(&byte_pair_tokenizer, pairs,
                (struct tokenizer_options){.prefix_space = true, .framed = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
