/*
 * mpi_group.h - a group of ranks (engine/dp/group.h) whose ranks are processes of MPI,
 * started together by mpirun or srun, on one machine or several.
 *
 * A call that fails, or a process that ends before the others, ends all of them: the
 * library does that, or who started them. A rank never comes back.
 *
 * Sums meet in an exchange of our own: each rank sends every other the words of that one's
 * slice, and adds what comes for its own. MPI_Reduce_scatter may add a whole vector at one
 * rank first, as the library chooses by size, and the sum of all records would then stand
 * there without noise. Words are added as unsigned numbers here, where they wrap
 * (noise.md 1). What has been received is wiped.
 *
 * Ranks of one machine exchange through memory that has no name (mpi_memory.h).
 *
 * Threads: one, the one that opened the group.
 */
#ifndef CLUSTER_MPI_GROUP_H
#define CLUSTER_MPI_GROUP_H

#include "base/status.h"
#include "engine/dp/group.h"

/* Joins the processes that were started with this one. Once in a process. Its keys must be
 * opened after it: a process that MPI starts has none from before (noise_key.h).
 *   ST_CANCELLED  the daemon has ended the job (mpi_memory.h)
 *   ST_INVALID  this program was built without MPI
 *   ST_INTERNAL the library does not let a process have threads */
enum status mpi_group_open(struct group *group, struct error *error);

/* Leaves the others. All ranks call it, at the end of the process. */
void mpi_group_close(struct group *group);

#endif
