/*
 * mpi_memory.h - how ranks on one machine exchange data: through shared memory, without
 * ports. While the run has data, the memory has no name in the file system.
 *
 * Open MPI makes a file for each process of a machine, and the others map it. It holds
 * sums of clipped gradients without noise (docs/privacy.md P9) and would outlive a
 * launcher that is killed. So the names of the files are removed once all ranks have
 * mapped them: the memory then ends with the last process, however that process ends.
 *
 * Threads: the one that opens the group.
 */
#ifndef MPI_MPI_MEMORY_H
#define MPI_MPI_MEMORY_H

#include "base/status.h"

/* Sets the environment variables that MPI_Init reads. If all ranks are on one machine,
 * they use only shared memory and listen on no port, unless the variables or the
 * launcher say otherwise.
 *   ST_CANCELLED  the daemon has removed the folder of the memory: the job has ended */
enum status mpi_memory_prepare(struct error *error);

/* Removes the names of the files. Call it after MPI_Init, when every rank of this
 * machine has mapped the files of the others. */
void mpi_memory_hide(void);

/* Creates empty files with these names, because MPI_Finalize removes the names and
 * reports a missing one as an error. Call it before MPI_Finalize, and let the ranks
 * wait for each other in between. */
void mpi_memory_name_again(void);

#endif
