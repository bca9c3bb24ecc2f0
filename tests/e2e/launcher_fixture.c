#include "tests/e2e/launcher_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"

static const char script[] =
    "#!/bin/bash\n"
    "rank=(%s %s/epsilond rank)\n"
    "[ -e %s/hasty ] || exec \"${rank[@]}\"\n"
    "exec \"${rank[@]}\" < \\\n"
    "    <(exec sed -u 's/\"patience_s\":120,/\"patience_s\":  3,/')\n";

static void copy_programs(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command,
             "cp \"$EPSILOND\" %s/epsilond && cp \"$EPSILOND-rank\" %s/epsilond-rank",
             folder, folder);
    assert_int_equal(system(command), 0);
}

static void write_script(const char *folder, const char *words)
{
    char path[96];
    snprintf(path, sizeof path, "%s/launcher", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, script, words, folder, folder);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

void launcher_start_daemon(struct stage *stage)
{
    char launcher[128];
    snprintf(launcher, sizeof launcher, "%s/launcher {ranks}", stage->daemon.directory);
    daemon_start(&stage->daemon,
                 (const char *const[]){"--workers", "1", "--threads", "1",
                                       "--ranks-launcher", launcher, "--ranks-max", "2",
                                       NULL});
}

void launcher_begin(void **state, const char *words)
{
    struct stage *stage = stage_prepare(state);
    copy_programs(stage->daemon.directory);
    write_script(stage->daemon.directory, words);
    launcher_start_daemon(stage);
    ready_digits(&stage->client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
}

void launcher_hasten(const struct stage *stage, bool hastens)
{
    char path[96];
    snprintf(path, sizeof path, "%s/hasty", stage->daemon.directory);
    if (!hastens) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static unsigned find_copies(const char *folder, pid_t *found, unsigned max)
{
    char program[96];
    snprintf(program, sizeof program, "%s/epsilond-rank", folder);
    return find_processes(program, found, max);
}

void find_launched(const char *folder, pid_t found[RANKS])
{
    assert_int_equal(find_copies(folder, found, RANKS), RANKS);
}

void assert_none_launched(const char *folder)
{
    assert_int_equal(find_copies(folder, NULL, 0), 0);
}
