#define ZLIB_CONST /* zlib only reads what it packs, and says so */
#include "service/http/compression.h"

#include <stdlib.h>
#include <zlib.h>

#include "api/http/accept.h"

bool compression_pays(size_t size)
{
    return size >= PACKED_SIZE_MIN && size <= PACKED_SIZE_MAX;
}

bool compression_is_wanted(const char *codings)
{
    return codings != NULL && accept_choose("gzip identity", codings) == 0;
}

char *compression_pack(size_t *packed_size, const char *text, size_t size)
{
    enum { GZIP = 16, WINDOW_BITS = 15, MEMORY_LEVEL = 8 }; /* zlib's own defaults */
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS + GZIP,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    char *packed = malloc(size);
    bool packs = packed != NULL;
    if (packs) {
        stream.next_in = (const Bytef *)text;
        stream.avail_in = (uInt)size;
        stream.next_out = (Bytef *)packed;
        stream.avail_out = (uInt)size;
        packs = deflate(&stream, Z_FINISH) == Z_STREAM_END; /* false: it did not fit */
        *packed_size = stream.total_out;
    }
    deflateEnd(&stream);
    if (packs)
        return packed;
    free(packed);
    return NULL;
}
