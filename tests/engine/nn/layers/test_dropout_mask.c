/* Goal: a mask drops with the given rate and depends only on the key, the record and
 * the layer. Method: counts within six standard errors; comparisons of masks; the words
 * of the stream read again. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/layers/dropout_mask.h"

enum { WIDTH = 100003 };

static void mask_of(float *mask, double rate, uint32_t place, uint8_t key,
                    uint32_t index)
{
    struct dropout dropout = {.rate = rate, .place = place};
    struct stream *stream = stream_create();
    uint8_t bytes[STREAM_KEY_SIZE];
    memset(bytes, key, sizeof bytes);
    struct dropout_record record = {bytes, index};
    dropout_mask(&dropout, stream, &record, mask, WIDTH);
    stream_destroy(stream);
}

static void a_mask_drops_at_its_rate(void **state)
{
    static const double rates[] = {0, 0.1, 0.385, 0.5, 0.9, 0.999};
    static float mask[WIDTH];
    (void)state;
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        double rate = rates[k], kept = 0;
        mask_of(mask, rate, 3, 0x5e, 77);
        for (size_t j = 0; j < WIDTH; j++) {
            assert_true(mask[j] == 0.0F || mask[j] == (float)(1 / (1 - rate)));
            kept += mask[j] != 0.0F;
        }
        double expected = WIDTH * (1 - rate);
        assert_true(fabs(kept - expected) <= 6 * sqrt(expected * rate));
    }
}

static void masks_of_other_records_layers_and_steps_are_other_masks(void **state)
{
    static float first[WIDTH], other[WIDTH];
    static const struct {
        uint32_t place;
        uint8_t key;
        uint32_t index;
    } others[] = {{1, 1, 1}, {0, 2, 1}, {0, 1, 2}, {1, 1, 0}, {0, 1, 0x80000001}};
    (void)state;
    mask_of(first, 0.5, 0, 1, 1);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        double agree = 0;
        mask_of(other, 0.5, others[k].place, others[k].key, others[k].index);
        for (size_t j = 0; j < WIDTH; j++)
            agree += first[j] == other[j];
        assert_true(fabs(agree - WIDTH / 2.0) <= 3 * sqrt(WIDTH));
    }
    mask_of(other, 0.5, 0, 1, 1);
    assert_memory_equal(first, other, sizeof first);
}

static void a_mask_is_read_off_the_stream(void **state)
{
    static uint32_t words[WIDTH];
    static float mask[WIDTH];
    uint8_t key[STREAM_KEY_SIZE];
    struct stream *stream = stream_create();
    (void)state;
    memset(key, 0x5e, sizeof key);
    stream_read(stream, words, sizeof words,
                &(struct stream_position){.key = key, .nonce = UINT64_C(0x200000007)});
    stream_destroy(stream);
    mask_of(mask, 0.25, 2, 0x5e, 7);
    for (size_t j = 0; j < WIDTH; j++)
        assert_int_equal(mask[j] == 0.0F, words[j] < UINT32_C(0x40000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_drops_at_its_rate),
        cmocka_unit_test(masks_of_other_records_layers_and_steps_are_other_masks),
        cmocka_unit_test(a_mask_is_read_off_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
