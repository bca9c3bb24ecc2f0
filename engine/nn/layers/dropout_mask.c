#include "engine/nn/layers/dropout_mask.h"

#include "base/hash.h"
#include "engine/parallel/vector_math.h"

enum { WORDS = 1024 }; /* read from the stream at a time: whole blocks */

void dropout_mask(const struct dropout *dropout, struct stream *stream,
                  const struct dropout_record *record, float *mask, size_t width)
{
    const uint64_t nonce = (uint64_t)dropout->place << 32 | record->index;
    const uint32_t below = (uint32_t)(dropout->rate * 0x1p32);
    const float kept = (float)(1.0 / (1.0 - dropout->rate));
    uint32_t words[WORDS];
    const uint64_t blocks = sizeof words / STREAM_BLOCK_SIZE;

    for (size_t done = 0, chunk = 0; done < width; chunk++) {
        size_t count = width - done < WORDS ? width - done : WORDS;
        const struct stream_position from = {record->key, nonce, chunk * blocks};
        stream_read(stream, words, count * sizeof *words, &from);
        for (size_t j = 0; j < count; j++)
            mask[done + j] = words[j] < below ? 0.0F : kept;
        done += count;
    }
    hash_zero(words, sizeof words); /* they determine the mask */
}

VECTOR_CLONES
void dropout_apply(struct rows y, struct rows x, struct rows mask)
{
    for (size_t j = 0; j < y.count * y.stride; j++)
        y.data[j] = x.data[j] * mask.data[j];
}
