/*
 * mpi_memory.h - what ranks of one machine exchange through: shared memory and no ports, and
 * nothing of it that has a name while the run has data.
 *
 * Open MPI makes a file for each process of a machine, and the others map it. It holds sums of
 * clipped gradients without noise (docs/privacy.md P9) and would outlive a launcher that is
 * killed. So the names of the files are removed once all ranks have mapped them: the memory
 * then ends with the last process, however that ends.
 *
 * Threads: the one that opens the group.
 */
#ifndef CLUSTER_MPI_MEMORY_H
#define CLUSTER_MPI_MEMORY_H

#include "base/status.h"

/* Sets the variables of the environment that MPI_Init reads. Ranks that are all on one machine
 * use shared memory only and listen on no port, unless the variables or the launcher say
 * otherwise.
 *   ST_CANCELLED  the daemon has removed the folder of the memory: the job has ended */
enum status mpi_memory_prepare(struct error *error);

/* Removes the names of the files. Call it after MPI_Init, when every rank of this machine has
 * mapped those of the others. */
void mpi_memory_hide(void);

/* Makes empty files of these names, which MPI_Finalize removes: it reports a name that is
 * missing as a fault. Call it before MPI_Finalize, and let the ranks wait for each other in
 * between. */
void mpi_memory_name_again(void);

#endif
