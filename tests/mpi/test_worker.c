/* Goal: a rank takes only the steps that an order covers, reports what they released
 * and writes the model when ordered to; and it takes no steps if the daemon is gone,
 * the matrix is not the plan's or the plan is not for such processes. Method: this
 * program runs itself as a group of one, whose standard input and output are the
 * test's. */
#include "mpi/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/requests/rank_text.h"
#include "engine/data/matrix_writer.h"
#include "tests/expect.h"

enum { RECORDS = 300, STEPS = 6, MANY = 10000000, FLOATS = 2 + 1 };

#define DATASET                                                                        \
    "{\"id\":\"points\",\"format\":\"csv\",\"task\":\"classification\",\"header\":"    \
    "true,"                                                                            \
    "\"columns\":[{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[-1,1]},"             \
    "{\"name\":\"y\",\"kind\":\"numeric\",\"range\":[-1,1]},"                          \
    "{\"name\":\"c\",\"kind\":\"label\",\"values\":[\"a\",\"b\"]}],"                   \
    "\"privacy\":{\"epsilon\":8,\"delta\":1e-5}}"
#define REQUEST                                                                        \
    "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"                       \
    "\"algorithm\":{\"name\":\"%s\"},\"batch_size\":50,\"steps\":%d,"                  \
    "\"privacy\":{\"noise_multiplier\":20}}"

struct rank {
    pid_t pid;
    int to;
    FILE *from;
};

struct place {
    char folder[32], matrix[64], model[64];
    struct file_checksum seal;
};

/* The daemon does this before it sends an order. */
static void make_model_file(const struct place *place)
{
    int file = open(place->model, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
}

static int begin(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct matrix_writer *writer;
    struct matrix_digest digest;
    const struct matrix_bounds wide = {RECORDS, 1 << 20, 0};
    const struct matrix_shape shape = {2, 2, ELEMENT_F32, 1, 0};
    strcpy(place->folder, "/tmp/ranks-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->matrix, sizeof place->matrix, "%s/matrix", place->folder);
    snprintf(place->model, sizeof place->model, "%s/model", place->folder);
    assert_int_equal(matrix_writer_open(&writer, place->matrix, wide, NULL, NULL),
                     ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        size_t count;
        float *row = matrix_writer_rows(writer, &count);
        row[0] = i % 2 == 0 ? 0.5F : -0.5F;
        row[1] = (float)(i % 7) / 7;
        assert_int_equal(matrix_writer_advance(writer, 1, NULL), ST_OK);
        assert_int_equal(matrix_writer_class(writer, i % 2, NULL), ST_OK);
    }
    assert_int_equal(matrix_writer_finish(writer, &digest, NULL), ST_OK);
    matrix_writer_close(writer);
    assert_int_equal(file_checksum_of(&place->seal, place->matrix, NULL), ST_OK);
    make_model_file(place);
    *state = place;
    return 0;
}

static int finish(void **state)
{
    struct place *place = *state;
    unlink(place->matrix);
    unlink(place->model);
    rmdir(place->folder);
    free(place);
    return 0;
}

static char *plan_text(const struct place *place, const char *algorithm, int steps,
                       unsigned ranks)
{
    char request[512];
    snprintf(request, sizeof request, REQUEST, algorithm, steps);
    struct rank_plan plan = {.dataset = strdup(DATASET),
                             .request = strdup(request),
                             .records = RECORDS,
                             .noise_multiplier = 20,
                             .ranks = ranks,
                             .threads = 1,
                             .patience_s = 60,
                             .matrix.seal = place->seal};
    snprintf(plan.matrix.path, sizeof plan.matrix.path, "%s", place->matrix);
    snprintf(plan.model, sizeof plan.model, "%s", place->model);
    char *text = rank_plan_render(&plan);
    rank_plan_fini(&plan);
    return text;
}

static struct rank start(void)
{
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        for (int file = 3; file < 64; file++)
            close(file);
        execl("/proc/self/exe", "test_member", "--rank", (char *)NULL);
        _exit(1);
    }
    close(to[0]);
    close(from[1]);
    return (struct rank){pid, to[1], fdopen(from[0], "r")};
}

static void say(struct rank *rank, const char *text)
{
    assert_int_equal(write(rank->to, text, strlen(text)), (ssize_t)strlen(text));
}

static struct rank start_with(char *plan_take)
{
    char head[RANK_HEAD_SIZE];
    struct rank rank = start();
    rank_head_render(head, strlen(plan_take));
    say(&rank, head);
    say(&rank, plan_take);
    free(plan_take);
    return rank;
}

static void give(struct rank *rank, bool is_over, uint64_t until, bool wants_model)
{
    const struct rank_order order = {is_over, until, wants_model};
    char *text = rank_order_render(&order);
    say(rank, text);
    say(rank, "\n");
    free(text);
}

static struct rank_report hear(struct rank *rank)
{
    static char line[RANK_LINE_SIZE];
    struct rank_report report;
    assert_non_null(fgets(line, sizeof line, rank->from));
    line[strcspn(line, "\n")] = '\0';
    assert_int_equal(rank_report_parse(&report, line, NULL), ST_OK);
    return report;
}

/* Returns the result of worker_run; kills a rank that has not ended within ten
 * seconds. */
static enum status end(struct rank *rank)
{
    int how = 0;
    for (int waited = 0; waited < 1000; waited++) {
        if (waitpid(rank->pid, &how, WNOHANG) == rank->pid)
            break;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        if (waited == 999)
            kill(rank->pid, SIGKILL);
    }
    close(rank->to);
    fclose(rank->from);
    assert_true(WIFEXITED(how));
    return (enum status)WEXITSTATUS(how);
}

static void steps_are_taken_up_to_the_order_and_no_further(void **state)
{
    const struct place *place = *state;
    struct stat file;
    struct rank rank = start_with(plan_text(place, "dpsgd", STEPS, 1));
    struct rank_report report = hear(&rank);
    assert_int_equal(report.step, 0);
    give(&rank, false, 2, false);
    report = hear(&rank);
    assert_int_equal(report.step, 2);
    assert_false(report.has_model);
    assert_int_equal(stat(place->model, &file), 0);
    assert_int_equal(file.st_size, 0);
    give(&rank, false, STEPS, true);
    report = hear(&rank);
    assert_int_equal(report.step, STEPS);
    assert_true(report.has_model);
    assert_non_null(strstr(report.noise, "floored-gaussian"));
    assert_int_equal(stat(place->model, &file), 0);
    assert_int_equal(file.st_size, FLOATS * sizeof(float));
    assert_int_equal(file.st_mode & 0777, 0600);
    struct file_checksum seal;
    assert_int_equal(file_checksum_of(&seal, place->model, NULL), ST_OK);
    assert_memory_equal(seal.sha256, report.model_sha256, sizeof seal.sha256);
    give(&rank, true, 0, false);
    assert_int_equal(end(&rank), ST_OK);
}

/* A filtered run stops when the daemon finds that its next step does not fit. */
static void a_run_ends_where_it_is_told_to(void **state)
{
    struct rank rank = start_with(plan_text(*state, "dcsgd_p", STEPS, 1));
    hear(&rank);
    give(&rank, false, 3, false);
    struct rank_report report = hear(&rank);
    assert_true(report.number_count > 2); /* a clip norm, a range and a histogram */
    give(&rank, false, 3, true);
    report = hear(&rank);
    assert_int_equal(report.step, 3);
    assert_true(report.has_model);
    give(&rank, true, 0, false);
    assert_int_equal(end(&rank), ST_OK);
}

/* Ten million steps would take minutes. */
static void no_step_is_taken_once_the_daemon_is_gone(void **state)
{
    struct rank rank = start_with(plan_text(*state, "dpsgd", MANY, 1));
    hear(&rank);
    give(&rank, false, MANY, false);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    close(rank.to);
    assert_int_equal(end(&rank), ST_CANCELLED);
}

/* The run has ended: a rank had received this order when its launcher was killed. */
static void a_model_file_that_the_daemon_removed_stays_away(void **state)
{
    const struct place *place = *state;
    struct stat file;
    struct rank rank = start_with(plan_text(place, "dpsgd", STEPS, 1));
    hear(&rank);
    assert_int_equal(unlink(place->model), 0);
    give(&rank, false, STEPS, true);
    assert_int_equal(hear(&rank).failure, ST_INVALID);
    assert_int_equal(end(&rank), ST_INVALID);
    assert_int_not_equal(stat(place->model, &file), 0);
    make_model_file(place);
}

static void an_order_of_other_steps_is_refused(void **state)
{
    static const uint64_t until[] = {STEPS + 1, 1};
    for (size_t k = 0; k < 2; k++) {
        struct rank rank = start_with(plan_text(*state, "dpsgd", STEPS, 1));
        hear(&rank);
        give(&rank, false, 2, false);
        hear(&rank);
        give(&rank, false, until[k], false);
        assert_int_equal(hear(&rank).failure, ST_INVALID);
        assert_int_equal(end(&rank), ST_INVALID);
    }
}

static void refused(char *plan_take, enum status status)
{
    struct rank rank = start_with(plan_take);
    assert_int_equal(hear(&rank).failure, status);
    assert_int_equal(end(&rank), status);
}

static void another_matrix_is_refused_before_the_first_report(void **state)
{
    struct place other = *(struct place *)*state;
    other.seal.sha256[7] ^= 1;
    refused(plan_text(&other, "dpsgd", STEPS, 1), ST_DATASET_CORRUPT);
    other = *(struct place *)*state;
    strcpy(other.matrix, "/tmp/no-such-matrix");
    refused(plan_text(&other, "dpsgd", STEPS, 1), ST_DATASET_CORRUPT);
}

static void a_plan_for_other_processes_is_refused(void **state)
{
    refused(plan_text(*state, "dpsgd", STEPS, 2), ST_INVALID);
    refused(strdup("{}\n{}\n{}\n"), ST_INVALID);
    struct rank rank = start();
    say(&rank, "epsilond-rank 0.0.0 10\n0123456789");
    assert_int_equal(hear(&rank).failure, ST_INVALID);
    assert_int_equal(end(&rank), ST_INVALID);
    rank = start();
    close(rank.to);
    assert_int_equal(end(&rank), ST_CANCELLED);
}

int main(int argc, char **argv)
{
    struct error error = {0};
    if (argc == 2 && strcmp(argv[1], "--rank") == 0)
        return (int)worker_run(&group_alone, &error);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_taken_up_to_the_order_and_no_further),
        cmocka_unit_test(a_run_ends_where_it_is_told_to),
        cmocka_unit_test(no_step_is_taken_once_the_daemon_is_gone),
        cmocka_unit_test(a_model_file_that_the_daemon_removed_stays_away),
        cmocka_unit_test(an_order_of_other_steps_is_refused),
        cmocka_unit_test(another_matrix_is_refused_before_the_first_report),
        cmocka_unit_test(a_plan_for_other_processes_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
