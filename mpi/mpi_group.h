/*
 * mpi_group.h - a group of ranks (engine/dp/group.h) whose ranks are processes of MPI,
 * started together by mpirun or srun, on one machine or several.
 *
 * A call that fails, or a process that ends before the others, ends all processes: the
 * library or the launcher does that. A rank never comes back.
 *
 * Sums are computed by an exchange of our own: each rank sends every other rank the
 * words of that rank's slice, and adds the words that it receives for its own slice.
 * MPI_Reduce_scatter may add a whole vector at one rank first, as the library
 * chooses by size, and that rank would then hold the sum of all records without
 * noise. Words are added as unsigned numbers here, so they wrap (noise.md 1).
 * Received words are wiped.
 *
 * Ranks on one machine exchange words through memory that has no name (mpi_memory.h).
 *
 * Threads: one, the one that opened the group.
 */
#ifndef MPI_MPI_GROUP_H
#define MPI_MPI_GROUP_H

#include "base/status.h"
#include "engine/dp/group.h"

/* Joins the processes that were started with this one. Call it once in a process,
 * and open the noise keys after it: a process that MPI starts has none from
 * before (noise_key.h).
 *   ST_CANCELLED  the daemon has ended the job (mpi_memory.h)
 *   ST_INVALID    this program was built without MPI
 *   ST_INTERNAL   the library does not allow threads in a process */
enum status mpi_group_open(struct group *group, struct error *error);

/* Leaves the group. Every rank calls it at the end of its process. */
void mpi_group_close(struct group *group);

#endif
