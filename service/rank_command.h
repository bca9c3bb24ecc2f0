/*
 * rank_command.h - `epsilond rank`: the program of a job's ranks by the daemon's name. It
 * becomes epsilond-rank, which stands beside it, is linked with MPI and may be another
 * package's (rank/README.md), with the BLAS kernel and the one thread that the daemon of this
 * machine would choose.
 */
#ifndef SERVICE_RANK_COMMAND_H
#define SERVICE_RANK_COMMAND_H

/* Takes the arguments from `rank` on, which are passed on. Returns only where there is no such
 * program: 69, and why on stderr. */
int rank_command(int argc, char **argv);
extern const char rank_usage[]; /* lines for --help */

#endif
