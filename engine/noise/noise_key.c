#include "engine/noise/noise_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

struct noise_source {
    struct stream *stream;
    struct noise_key state;
};

struct noise_source *noise_source_open(const struct noise_key *seed)
{
    struct noise_source *source = calloc(1, sizeof *source);
    CHECK(source != NULL);
    source->stream = stream_create();
    if (seed != NULL)
        source->state = *seed;
    else
        random_bytes(source->state.bytes, sizeof source->state.bytes);
    return source;
}

void noise_source_close(struct noise_source *source)
{
    if (source == NULL)
        return;
    stream_destroy(source->stream);
    hash_zero(source, sizeof *source);
    free(source);
}

void noise_source_next(struct noise_source *source, struct noise_key *step_key)
{
    struct noise_key pair[2];
    const struct stream_position from = {.key = source->state.bytes,
                                         .nonce = UINT64_MAX};
    stream_read(source->stream, pair, sizeof pair, &from);
    *step_key = pair[0];
    source->state = pair[1];
    hash_zero(pair, sizeof pair);
}
