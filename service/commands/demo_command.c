#include "service/commands/demo_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

const char demo_usage[] =
    "usage: epsilond --demo\n"
    "Shows the main job on sample data and serves the dashboard until Ctrl-C, in a\n"
    "temporary directory that is removed at the end. Needs curl and jq.\n";

enum { PATH_SIZE = 4096 };

/* script = the path of the demo that is installed for the program at this path. */
static void find_script(char script[PATH_SIZE], const char *program)
{
    const char *slash = strrchr(program, '/');
    int length = slash != NULL ? (int)(slash - program) : 0;
    if (snprintf(script, PATH_SIZE, "%.*s/../share/epsilond/demo/demo", length,
                 program) >= PATH_SIZE)
        script[0] = '\0';
}

int demo_command(int argc, char **argv)
{
    char program[PATH_SIZE] = "", script[PATH_SIZE];
    (void)argv;
    if (argc > 1) {
        fprintf(stderr, "epsilond --demo takes no other options\n");
        return EX_USAGE;
    }
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        program[0] = '\0';
    find_script(script, program);
    if (access(script, R_OK) != 0) {
        fprintf(stderr,
                "epsilond --demo: %s: %s; the package epsilond installs it, and in a "
                "clone STAY=1 make demo does the same\n",
                script, strerror(errno));
        return EX_UNAVAILABLE;
    }
    setenv("STAY", "1", 1);
    setenv("REMOVE", "1", 1);
    execl("/bin/sh", "sh", script, program, (char *)NULL);
    fprintf(stderr, "epsilond --demo: /bin/sh: %s\n", strerror(errno));
    return EX_UNAVAILABLE;
}
