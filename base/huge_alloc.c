#include "base/huge_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef MADV_POPULATE_WRITE /* Linux 5.14 */
static void populate(void *vector, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t end = ((uintptr_t)vector + bytes) / page * page;
    size_t before = (page - (uintptr_t)vector % page) % page;
    if (bytes > before && end > (uintptr_t)vector + before)
        madvise((char *)vector + before, end - (uintptr_t)vector - before,
                MADV_POPULATE_WRITE);
}
#else
static void populate(void *vector, size_t bytes)
{
    (void)vector;
    (void)bytes;
}
#endif

void *huge_alloc_zeroed(size_t count, size_t size)
{
    void *vector = calloc(count, size);
    if (vector != NULL)
        populate(vector, count * size);
    return vector;
}
