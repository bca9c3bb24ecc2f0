/*
 * rank_launcher.h - the process that starts a job's ranks: mpirun, srun, or a command
 * of the operator (--ranks-launcher). It is a child with pipes, which can be ended.
 *
 * It inherits standard error, for the log, and pipes; no other file of this process,
 * and no variable of the environment that may hold a secret of the daemon's: EPSILOND_,
 * PG and AWS_. It leads a process group of its own, so that a signal reaches the whole
 * group. Variables of Open MPI name the folder of its memory and its session files
 * (rank_memory.h).
 *
 * From its first line on it must send lines: an empty line says that the ranks are
 * alive (api/requests/rank_text.h). If it is silent for too long it has failed. Before
 * that line it may wait for machines without limit, unless a signal has stopped it.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_RUNS_RANK_LAUNCHER_H
#define SERVICE_RUNS_RANK_LAUNCHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "service/runs/rank_memory.h"

/* Splits a command into words at blanks, with {ranks} replaced; no shell reads it.
 * NULL-ended; to be freed with rank_words_free. */
char **rank_words(const char *command, unsigned ranks);
void rank_words_free(char **words);

struct rank_launcher {
    pid_t pid;
    int to, from; /* its standard input and output */
    char *line;   /* read and not yet taken */
    size_t filled;
    bool has_spoken;    /* it has sent a line */
    int64_t heard_ns;   /* when it was last known to be alive */
    unsigned silence_s; /* the longest silence that is allowed */
    struct rank_memory memory;
};

/*   ST_INTERNAL  it cannot be started; the text says why */
enum status rank_launcher_start(struct rank_launcher *launcher, char *const *words,
                                struct error *error);

/* Writes all of text to it.
 *   ST_CANCELLED  cancel was seen set
 *   ST_INTERNAL   it reads no more, or has been silent for too long */
enum status rank_launcher_write(struct rank_launcher *launcher, const char *text,
                                size_t size, const atomic_bool *cancel,
                                struct error *error);

/* Waits for a line of 1 to size - 1 bytes, which is stored without its end.
 *   ST_CANCELLED  cancel was seen set
 *   ST_INTERNAL   it has ended, the line is longer, or it has been silent for too
 *                 long */
enum status rank_launcher_read(struct rank_launcher *launcher, char *line, size_t size,
                               const atomic_bool *cancel, struct error *error);

/* Waits patience_ms for it to end by itself; if it has not, sends SIGTERM and, three
 * seconds later, SIGKILL. Processes left in its group are ended in the same way. Then
 * removes the folder of its memory. Returns whether it ended by itself and with 0. The
 * launcher itself ends what it started on other machines, and those processes end too:
 * rank 0 has nothing more to read. */
bool rank_launcher_end(struct rank_launcher *launcher, unsigned patience_ms);

#endif
