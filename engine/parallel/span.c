#include "engine/parallel/span.h"

size_t span_shares(size_t dim, size_t chunk)
{
    return (dim + chunk - 1) / chunk;
}

struct span span_of_member(unsigned member, unsigned size, size_t dim, size_t chunk)
{
    size_t chunks = span_shares(dim, chunk);
    size_t first = chunks * member / size * chunk;
    size_t end = chunks * (member + 1) / size * chunk;
    end = end < dim ? end : dim;
    return (struct span){.first = first, .count = first < end ? end - first : 0};
}

struct span span_part(struct span whole, unsigned member, unsigned size, size_t chunk)
{
    struct span part = span_of_member(member, size, whole.count, chunk);
    return (struct span){.first = whole.first + part.first, .count = part.count};
}
