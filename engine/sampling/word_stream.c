#include "engine/sampling/word_stream.h"

#include "base/hash.h"

void word_stream_open(struct word_stream *words, const struct noise_key *key,
                      enum word_stream_nonce nonce)
{
    words->stream = stream_create();
    words->key = key;
    words->nonce = nonce;
    words->block = 0;
    words->next = WORD_STREAM_WORDS;
}

void word_stream_close(struct word_stream *words)
{
    stream_destroy(words->stream);
    hash_zero(words, sizeof *words);
}

uint64_t word_stream_next(struct word_stream *words)
{
    if (words->next == WORD_STREAM_WORDS) {
        const struct stream_position from = {words->key->bytes, (uint64_t)words->nonce,
                                             words->block};
        stream_read(words->stream, words->words, sizeof words->words, &from);
        words->block += sizeof words->words / STREAM_BLOCK_SIZE;
        words->next = 0;
    }
    return words->words[words->next++];
}
