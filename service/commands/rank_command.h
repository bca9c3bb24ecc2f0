/*
 * rank_command.h - `epsilond rank`: starts the program of a job's ranks by the daemon's
 * name. It executes epsilond-rank, which lies in the same folder, is linked with MPI
 * and may come from another package (mpi/README.md), with one thread and the BLAS
 * kernel that the daemon of this machine would choose.
 */
#ifndef SERVICE_COMMANDS_RANK_COMMAND_H
#define SERVICE_COMMANDS_RANK_COMMAND_H

/* Takes the arguments from `rank` on, and passes them on. Returns only if there is no
 * such program: 69, and the reason on stderr. */
int rank_command(int argc, char **argv);
extern const char rank_usage[]; /* lines for --help */

#endif
