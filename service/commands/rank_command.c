#include "service/commands/rank_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "service/process/blas_kernel.h"

const char rank_usage[] =
    "usage: epsilond rank (--ranks-launcher starts it; docs/ranks.md)\n";

int rank_command(int argc, char **argv)
{
    static const char name[] = "epsilond-rank";
    char path[4096 + sizeof name] = "";
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    char *slash = length > 0 ? strrchr(path, '/') : NULL;
    char *to = slash != NULL ? slash + 1 : path;
    (void)argc;
    memcpy(to, name, sizeof name);
    blas_kernel_choose();
    execv(path, argv);
    fprintf(
        stderr,
        "epsilond rank: %s: %s; it is in the package epsilond-rank, and a build has "
        "it with libopenmpi-dev\n",
        path, strerror(errno));
    return EX_UNAVAILABLE;
}
