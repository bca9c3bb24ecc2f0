/*
 * rank_launcher.h - the process that starts a job's ranks: mpirun, srun, or what an operator
 * wrote (--ranks-launcher), as a child that can be talked to and ended.
 *
 * It inherits standard error, for the log, and pipes; no other file of this process, and no
 * variable of the environment that may hold a secret of the daemon's: EPSILOND_, PG and AWS_.
 * It leads a process group of its own, which a signal reaches whole. Variables of Open MPI
 * name the folder of its memory and its session files (rank_memory.h).
 *
 * From its first line on it has to be heard: an empty line says that the ranks are alive
 * (api/rank_text.h). One that is silent for too long has failed. Before that line it may wait
 * for machines as long as it likes, unless somebody stopped it.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_RANK_LAUNCHER_H
#define SERVICE_RANK_LAUNCHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "service/rank_memory.h"

/* The words of a command, which blanks part, with {ranks} replaced; no shell reads it.
 * NULL-ended; to be freed with rank_words_free. */
char **rank_words(const char *command, unsigned ranks);
void rank_words_free(char **words);

struct rank_launcher {
    pid_t pid;
    int to, from; /* its standard input and output */
    char *line;   /* what was read of it, and not taken */
    size_t filled;
    bool has_spoken;    /* a line has come */
    int64_t heard_ns;   /* when it was last known to be well */
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
 *   ST_INTERNAL   it has ended, the line is longer, or it has been silent for too long */
enum status rank_launcher_read(struct rank_launcher *launcher, char *line, size_t size,
                               const atomic_bool *cancel, struct error *error);

/* Lets it end by itself for so long; what has not gets SIGTERM and, three seconds later,
 * SIGKILL, and so does what it leaves in its group. Then removes the folder of its memory.
 * Returns whether it ended by itself and with 0. Whoever it started on other machines is its own business, and ends as well: rank 0
 * has nothing more to read. */
bool rank_launcher_end(struct rank_launcher *launcher, unsigned patience_ms);

#endif
