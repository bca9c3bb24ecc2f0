/* epsilond-rank is one of the processes that together take the steps of one job. The
 * daemon starts a launcher (--ranks-launcher), which starts them. Rank 0 exchanges
 * messages with the daemon over its standard input and output. Exit: 0 the run was
 * complete, 64 usage, 70 the run was not complete, 75 no step ended for too long, 78
 * MPI does not start, or the program was built without it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "base/log.h"
#include "mpi/mpi_group.h"
#include "mpi/worker.h"
#include "mpi/worker_heartbeat.h"

/* Makes the process's files private and disables its core dumps, so that others can
 * read neither. The other ranks on this machine may still exchange memory with the
 * process, which only processes of its own user can do. */
static void close_off(void)
{
    const struct rlimit none = {0, 0};
    umask(S_IRWXG | S_IRWXO);
    setrlimit(RLIMIT_CORE, &none);
}

int main(int argc, char **argv)
{
    struct group group;
    struct error error = {0};
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("epsilond-rank %s\n", EPSILOND_VERSION);
        return EX_OK;
    }
    if (argc > 1) {
        fputs("usage: epsilond-rank, started by what --ranks-launcher names\n", stderr);
        return EX_USAGE;
    }
    close_off();
    signal(SIGPIPE, SIG_IGN);
    enum status status = mpi_group_open(&group, &error);
    if (status != ST_OK) {
        log_event(LOG_ERROR, "rank_not_started", "detail", error.text, (char *)NULL);
        return EX_CONFIG;
    }
    struct worker_heartbeat *heartbeat =
        group.rank == 0 ? worker_heartbeat_open() : NULL;
    status = worker_run(&group, &error);
    worker_heartbeat_close(heartbeat);
    if (status != ST_OK)
        log_event(LOG_ERROR, "rank_ended", "detail", error.text, (char *)NULL);
    mpi_group_close(&group);
    return status == ST_OK ? EX_OK : EX_SOFTWARE;
}
