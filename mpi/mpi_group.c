#include "mpi/mpi_group.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "mpi/mpi_memory.h"

enum {
    PIECE = 1 << 16,     /* words in one exchange, few enough to stay in cache */
    BYTES_MAX = 1 << 30, /* of one broadcast: MPI counts in int */
    EXCHANGE_TAG = 1
};

struct joined {
    MPI_Comm ranks;
    uint64_t received[PIECE];
    int *counts, *starts; /* (ranks) of a gather */
    struct group *group;
};

/* A range of words being sent: the slice of one rank. */
struct parcel {
    int rank; /* destination or source */
    struct span slice;
};

/* Returns the next words of a parcel, from done on. */
static struct span next_piece(const struct parcel *parcel, size_t done)
{
    size_t left = done < parcel->slice.count ? parcel->slice.count - done : 0;
    return (struct span){parcel->slice.first + done, left < PIECE ? left : PIECE};
}

/* Sends words of one parcel while receiving those of the other, and adds the received
 * words to sum. */
static void exchange(struct joined *joined, uint64_t *sum, const struct parcel *to,
                     const struct parcel *from)
{
    for (size_t done = 0; done < to->slice.count || done < from->slice.count;
         done += PIECE) {
        struct span out = next_piece(to, done), in = next_piece(from, done);
        MPI_Sendrecv(sum + out.first, (int)out.count, MPI_UINT64_T,
                     out.count > 0 ? to->rank : MPI_PROC_NULL, EXCHANGE_TAG,
                     joined->received, (int)in.count, MPI_UINT64_T,
                     in.count > 0 ? from->rank : MPI_PROC_NULL, EXCHANGE_TAG,
                     joined->ranks, MPI_STATUS_IGNORE);
        for (size_t j = 0; j < in.count; j++)
            sum[in.first + j] += joined->received[j];
    }
}

static void meet(void *context, int64_t *sum, size_t dim)
{
    struct joined *joined = context;
    const struct group *group = joined->group;
    struct span own = group_slice(group, group->rank, dim);
    size_t end = own.first + own.count;
    for (unsigned k = 1; k < group->size; k++) {
        unsigned to = (group->rank + k) % group->size;
        unsigned from = (group->rank + group->size - k) % group->size;
        exchange(joined, (uint64_t *)sum,
                 &(struct parcel){(int)to, group_slice(group, to, dim)},
                 &(struct parcel){(int)from, own});
    }
    hash_zero(joined->received, sizeof joined->received);
    hash_zero(sum, own.first * sizeof *sum);
    hash_zero(sum + end, (dim - end) * sizeof *sum);
}

/* Does not use MPI_Reduce, which may add the words of several ranks at a rank that is
 * not the first. */
static void collect(void *context, int64_t *numbers, size_t count)
{
    struct joined *joined = context;
    const struct parcel nothing = {0};
    if (joined->group->rank > 0) {
        exchange(joined, (uint64_t *)numbers, &(struct parcel){0, {0, count}},
                 &nothing);
        hash_zero(numbers, count * sizeof *numbers);
        return;
    }
    for (unsigned k = 1; k < joined->group->size; k++)
        exchange(joined, (uint64_t *)numbers, &nothing,
                 &(struct parcel){(int)k, {0, count}});
    hash_zero(joined->received, sizeof joined->received);
}

static void tell(void *context, void *bytes, size_t size)
{
    const struct joined *joined = context;
    for (size_t done = 0; done < size; done += BYTES_MAX) {
        size_t left = size - done;
        MPI_Bcast((char *)bytes + done, (int)(left < BYTES_MAX ? left : BYTES_MAX),
                  MPI_BYTE, 0, joined->ranks);
    }
}

static void gather(void *context, float *vector, size_t dim)
{
    const struct joined *joined = context;
    CHECK(dim <= INT_MAX);
    for (unsigned k = 0; k < joined->group->size; k++) {
        struct span slice = group_slice(joined->group, k, dim);
        joined->counts[k] = (int)slice.count;
        joined->starts[k] = (int)slice.first;
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, vector, joined->counts,
                   joined->starts, MPI_FLOAT, joined->ranks);
}

static bool all(void *context, bool mine)
{
    const struct joined *joined = context;
    int vote = mine;
    MPI_Allreduce(MPI_IN_PLACE, &vote, 1, MPI_INT, MPI_MIN, joined->ranks);
    return vote != 0;
}

/* Exchanges a word with every other rank, which makes them map each other's memory.
 * Then all ranks remove the names of the files. */
static void hide_memory(const struct joined *joined)
{
    const struct group *group = joined->group;
    for (unsigned k = 1; k < group->size; k++) {
        int to = (int)((group->rank + k) % group->size);
        int from = (int)((group->rank + group->size - k) % group->size), word = 0;
        MPI_Sendrecv_replace(&word, 1, MPI_INT, to, EXCHANGE_TAG, from, EXCHANGE_TAG,
                             joined->ranks, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(joined->ranks);
    mpi_memory_hide();
    MPI_Barrier(joined->ranks);
}

enum status mpi_group_open(struct group *group, struct error *error)
{
    static const struct group_calls calls = {meet, collect, tell, gather, all};
    int level = MPI_THREAD_SINGLE, rank = 0, size = 0;
    enum status status = mpi_memory_prepare(error);
    if (status != ST_OK)
        return status;
    struct joined *joined = calloc(1, sizeof *joined);
    CHECK(joined != NULL);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (level < MPI_THREAD_FUNNELED) {
        free(joined);
        MPI_Finalize();
        return error_set(error, ST_INTERNAL,
                         "this MPI does not let a process have threads");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &joined->ranks);
    MPI_Comm_rank(joined->ranks, &rank);
    MPI_Comm_size(joined->ranks, &size);
    joined->counts = calloc((size_t)size, sizeof *joined->counts);
    joined->starts = calloc((size_t)size, sizeof *joined->starts);
    CHECK(joined->counts != NULL && joined->starts != NULL);
    joined->group = group;
    *group = (struct group){(unsigned)rank, (unsigned)size, &calls, joined};
    hide_memory(joined);
    return ST_OK;
}

void mpi_group_close(struct group *group)
{
    struct joined *joined = group->context;
    mpi_memory_name_again();
    MPI_Barrier(joined->ranks);
    MPI_Comm_free(&joined->ranks);
    MPI_Finalize();
    free(joined->counts);
    free(joined->starts);
    free(joined);
    *group = (struct group){0};
}
