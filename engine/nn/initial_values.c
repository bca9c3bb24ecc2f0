#include "engine/nn/initial_values.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "engine/nn/graph_build.h"
/* The number of words of the stream that are converted to weights at a time: a multiple
 * of the words in a block. */
enum { INIT_WORDS = 1024 };

/* The first nonce of adapters, behind those of all other tensors. Both are counted apart,
 * so that the others begin with the same values with adapters and without. */
#define ADAPTER_NONCES (UINT64_C(1) << 32)

/* out[j] = uniform in (-bound, bound), from word j after from, for j in the span. */
static void init_uniform(struct stream *stream, struct stream_position from, float *out,
                         struct span span, double bound)
{
    uint32_t words[INIT_WORDS];
    size_t end = span.first + span.count;

    for (size_t j = span.first; j < end;) {
        size_t skipped = j % INIT_WORDS, left = end - j;
        size_t count = INIT_WORDS - skipped < left ? INIT_WORDS - skipped : left;
        from.block = j / INIT_WORDS * (sizeof words / STREAM_BLOCK_SIZE);
        stream_read(stream, words, sizeof words, &from);
        for (size_t k = 0; k < count; k++)
            out[j + k] =
                (float)(bound * (((double)words[skipped + k] + 0.5) * 0x1p-31 - 1.0));
        j += count;
    }
}

/* Returns the part of a tensor that is in the span, counted from the tensor's first
 * float. */
static struct span part_of_tensor(const struct tensor *tensor, struct span span)
{
    size_t end = span.first + span.count, last = tensor->offset + tensor->count;
    size_t first = span.first > tensor->offset ? span.first : tensor->offset;
    last = end < last ? end : last;
    return (struct span){first - tensor->offset, first < last ? last - first : 0};
}

void network_init_span(const struct network *network, float *values, uint64_t seed,
                       struct span span)
{
    static const char domain[] = "epsilond initial weights";
    uint8_t key[STREAM_KEY_SIZE], text[sizeof domain + sizeof seed];
    struct stream *stream = stream_create();
    uint64_t nonces[] = {0, ADAPTER_NONCES}; /* the next, by is_adapter */
    double bound = 0.0;

    memcpy(text, domain, sizeof domain);
    for (size_t i = 0; i < sizeof seed; i++)
        text[sizeof domain + i] = (uint8_t)(seed >> (8 * i));
    sha256_of(key, text, sizeof text);
    for (size_t i = 0; i < network->tensor_count; i++) {
        const struct tensor *tensor = &network->tensors[i];
        struct span part = part_of_tensor(tensor, span);
        float *to = values + tensor->offset;
        uint64_t nonce = nonces[tensor->is_adapter]++;
        if (tensor->rank > 1) /* a bias follows its weight and shares its fan_in */
            bound = 1.0 / sqrt((double)(tensor->count / tensor->shape[0]));
        if (tensor->initial == INITIAL_UNIFORM)
            init_uniform(stream, (struct stream_position){.key = key, .nonce = nonce},
                         to, part, bound);
        for (size_t j = 0; tensor->initial != INITIAL_UNIFORM && j < part.count; j++)
            to[part.first + j] = tensor->initial == INITIAL_ONES ? 1.0F : 0.0F;
    }
    stream_destroy(stream);
}

void network_init(const struct network *network, float *values, uint64_t seed)
{
    network_init_span(network, values, seed, (struct span){0, network_floats(network)});
}
