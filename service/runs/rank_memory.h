/*
 * rank_memory.h - the folder in which Open MPI keeps the shared memory and the session
 * files of one job's ranks. That memory holds sums of clipped gradients without noise,
 * which are raw data (docs/privacy.md P9). The session files are there because another
 * user could create their usual path in /tmp first.
 *
 * The folder is /dev/shm/epsilond-ranks-XXXXXX, mode 0700: this is memory and not a
 * disk, because a disk keeps what was removed from it. The ranks remove the names of
 * their memory once all have joined (mpi/mpi_memory.h).
 *
 * Invariants
 *   (1) The daemon that made a folder holds a lock on it until it removes it.
 *   (2) A folder without a lock belongs to a daemon that was killed. Every start, every
 *       end of a job of ranks and `epsilond verify` remove such folders of the same
 *       user.
 *
 * Threads: any; each folder is used by one.
 */
#ifndef SERVICE_RUNS_RANK_MEMORY_H
#define SERVICE_RUNS_RANK_MEMORY_H

#include "base/status.h"

enum { RANK_MEMORY_PATH_SIZE = 48 };

struct rank_memory { /* path "": none */
    char path[RANK_MEMORY_PATH_SIZE];
    int lock; /* the open folder */
};

/*   ST_INTERNAL  the folder cannot be made; the text says why */
enum status rank_memory_make(struct rank_memory *memory, struct error *error);

/* Removes the folder and all that is in it. Does nothing if there is none. */
void rank_memory_remove(struct rank_memory *memory);

/* Removes the folders of daemons that were killed. */
void rank_memory_sweep(void);

#endif
