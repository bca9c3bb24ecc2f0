#include "engine/dp/step_seeds.h"

#include "base/hash.h"

void step_seeds_open(struct step_seeds *keys, const struct noise_key *seed)
{
    struct noise_key sampling, drop, rows, views;
    if (seed != NULL) {
        struct stream *stream = stream_create();
        struct stream_position from = {.key = seed->bytes, .nonce = UINT64_MAX - 1};
        stream_read(stream, sampling.bytes, sizeof sampling.bytes, &from);
        from.nonce = UINT64_MAX - 2;
        stream_read(stream, drop.bytes, sizeof drop.bytes, &from);
        from.nonce = UINT64_MAX - 3;
        stream_read(stream, rows.bytes, sizeof rows.bytes, &from);
        from.nonce = UINT64_MAX - 4;
        stream_read(stream, views.bytes, sizeof views.bytes, &from);
        stream_destroy(stream);
    }
    keys->noise_source = noise_source_open(seed);
    keys->sampling_source = noise_source_open(seed != NULL ? &sampling : NULL);
    keys->drop_source = noise_source_open(seed != NULL ? &drop : NULL);
    keys->rows_source = noise_source_open(seed != NULL ? &rows : NULL);
    keys->views_source = noise_source_open(seed != NULL ? &views : NULL);
    hash_zero(&sampling, sizeof sampling);
    hash_zero(&drop, sizeof drop);
    hash_zero(&rows, sizeof rows);
    hash_zero(&views, sizeof views);
}

void step_seeds_close(struct step_seeds *keys)
{
    noise_source_close(keys->noise_source);
    noise_source_close(keys->sampling_source);
    noise_source_close(keys->drop_source);
    noise_source_close(keys->rows_source);
    noise_source_close(keys->views_source);
    hash_zero(keys, sizeof *keys);
}

void step_seeds_next(struct step_seeds *keys)
{
    noise_source_next(keys->noise_source, &keys->noise);
    noise_source_next(keys->sampling_source, &keys->sampling);
    noise_source_next(keys->drop_source, &keys->drop);
    noise_source_next(keys->rows_source, &keys->rows);
    noise_source_next(keys->views_source, &keys->views);
}
