/* Goal: a flag wins over the environment, the environment over the file, and the file
 * over the default; an unknown option or value is refused. */
#include "service/config/config.h"

#include <string.h>

#include "tests/expect.h"

enum { ARGUMENTS_MAX = 16 };

static enum status read_words(struct config *config, enum config_outcome *outcome,
                              const char *const *words, struct error *error)
{
    static char copies[ARGUMENTS_MAX][256];
    char *argv[ARGUMENTS_MAX + 1] = {0};
    int argc = 0;
    *error = (struct error){0};
    for (; words[argc] != NULL; argc++) {
        snprintf(copies[argc], sizeof copies[argc], "%s", words[argc]);
        argv[argc] = copies[argc];
    }
    return config_read(config, outcome, argc, argv, error);
}

#define READ(...)                                                                      \
    read_words(&config, &outcome, (const char *const[]){__VA_ARGS__, NULL}, &error)

static void write_file(char path[64], const char *text)
{
    snprintf(path, 64, "/tmp/epsilond-config-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void flags_win_over_environment_over_file_over_default(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    char path[64];
    write_file(path, "# a comment\ndata-dir = /from/file\n\nqueue-length-max = 7\n"
                     "  # another\ndrain-timeout=3\nworkers = 2\n");
    setenv("EPSILOND_QUEUE_LENGTH_MAX", "8", 1);
    setenv("EPSILOND_DRAIN_TIMEOUT", "4", 1);
    assert_int_equal(READ("epsilond", "--config", path, "--drain-timeout=5"), ST_OK);
    assert_int_equal(outcome, CONFIG_RUN);
    assert_string_equal(config.data_dir, "/from/file");
    assert_int_equal(config.queue_length_max, 8);
    assert_int_equal(config.drain_timeout_s, 5);
    assert_int_equal(config.workers, 2);
    assert_int_equal(config.port, 8080);
    assert_true(config.threads >= 1);
    unsetenv("EPSILOND_QUEUE_LENGTH_MAX");
    unsetenv("EPSILOND_DRAIN_TIMEOUT");
    unlink(path);
}

static void elsewhere_than_on_loopback_wants_tls_or_a_proxy(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "127.0.0.9:0"),
                     ST_OK);
    assert_string_equal(config.address, "127.0.0.9");
    assert_int_equal(config.port, 0);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "[::1]:81"),
                     ST_OK);
    assert_string_equal(config.address, "::1");
    static const char *const bad[] = {"0.0.0.0:80", "10.0.0.1:80", "localhost:80",
                                      "127.0.0.1",  "127.0.0.1:x", "127.0.0.1:70000",
                                      "[::]:80",    "127.0.0.1:-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", bad[i]),
                         ST_INVALID);
    assert_true(config_is_local(&(struct config){.address = "127.0.0.9"}));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "10.0.0.1:80",
                          "--behind-proxy", "on"),
                     ST_OK);
    assert_string_equal(config.address, "10.0.0.1");
    assert_false(config_is_local(&config));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "[::]:80",
                          "--tls-cert", "c", "--tls-key", "k"),
                     ST_OK);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "10.0.0.1:80",
                          "--behind-proxy", "off"),
                     ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--behind-proxy", "perhaps"),
                     ST_INVALID);
}

static void options_that_need_each_other_come_together(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--tls-cert", "c"),
                     ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--tls-key", "k"), ST_INVALID);
    assert_non_null(strstr(error.text, "go together"));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--groups", "g"), ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--trust-proxy", "unix"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "go together"));
    assert_int_equal(
        READ("epsilond", "--data-dir", "d", "--trust-proxy", "unix", "--groups", "g"),
        ST_OK);
    assert_string_equal(config.groups, "g");
}

static void files_in_a_bucket_have_a_url_and_a_key_file(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    assert_int_equal(READ("epsilond", "--data-dir", "d"), ST_OK);
    assert_string_equal(config.blobs, "");
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--blobs", "https://b/x"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "s3://BUCKET"));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--blobs-key-file", "k"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "goes with --blobs"));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--cache-size", "0"),
                     ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--blobs", "s3://bucket/x",
                          "--blobs-key-file", "k", "--cache-size", "1000",
                          "--check-objects", "on"),
                     ST_OK);
    assert_string_equal(config.blobs, "s3://bucket/x");
    assert_string_equal(config.blobs_key_file, "k");
    assert_true(config.cache_size == 1000 && config.check_objects);
}

static void a_store_on_a_server_keeps_its_head_in_the_directory(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--single-server", "on"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "go with --store"));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--migrate", "on"),
                     ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--store", ""), ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d"), ST_OK);
    assert_string_equal(config.head_file, "");
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--store", "postgresql://h/x",
                          "--single-server", "on"),
                     ST_OK);
    assert_string_equal(config.store, "postgresql://h/x");
    assert_true(config.single_server && !config.migrate);
    assert_string_equal(config.head_file, "d/epsilond.head");
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--store", "postgresql://h/x",
                          "--head-file", "/elsewhere"),
                     ST_OK);
    assert_string_equal(config.head_file, "/elsewhere");
}

static void a_role_is_of_a_daemon_that_shares(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error = {0};
    static const struct {
        const char *text;
        enum daemon_role role;
    } roles[] = {
        {"api", DAEMON_API}, {"worker", DAEMON_WORKER}, {"api,worker", DAEMON_BOTH}};
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--store", "postgresql://h/x",
                          "--blobs", "s3://bucket"),
                     ST_OK);
    assert_false(daemon_role_shares(config.role));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        assert_int_equal(READ("epsilond", "--data-dir", "d", "--store",
                              "postgresql://h/x", "--blobs", "s3://bucket", "--role",
                              roles[i].text),
                         ST_OK);
        assert_int_equal(config.role, roles[i].role);
        assert_string_equal(daemon_role_name(config.role), roles[i].text);
    }
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--role", "alone"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "one of api, worker"));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--role", "api", "--store",
                          "postgresql://h/x"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "goes with --store and --blobs"));
    assert_int_equal(
        READ("epsilond", "--data-dir", "d", "--role", "worker", "--blobs", "s3://b"),
        ST_INVALID);
}

static void a_socket_is_a_path(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    char path[128] = "unix:/";
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "unix:/run/e"),
                     ST_OK);
    assert_string_equal(config.socket_path, "/run/e");
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "unix:/run/e",
                          "--listen", "127.0.0.1:1"),
                     ST_OK);
    assert_string_equal(config.socket_path, "");
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", "unix:run/e"),
                     ST_INVALID);
    memset(path + strlen(path), 'x', 107); /* 108 bytes are too many */
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", path), ST_INVALID);
    path[5 + 107] = '\0';
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--listen", path), ST_OK);
}

static void what_is_not_understood_is_refused(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    char path[64];
    assert_int_equal(READ("epsilond"), ST_INVALID);
    assert_non_null(strstr(error.text, "--data-dir"));
    assert_int_equal(READ("epsilond", "--data-dir"), ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--wrokers", "1"), ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--workers", "0"), ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--workers", "two"),
                     ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "extra"), ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--log-level", "loud"),
                     ST_INVALID);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--ui", "yes"), ST_INVALID);
    assert_int_equal(READ("epsilond", "--config", "/nowhere/at/all"), ST_IO);
    write_file(path, "data-dir = d\ncolour = blue\n");
    assert_int_equal(READ("epsilond", "--config", path), ST_IO);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "line 2: unknown option \"colour\""));
    unlink(path);
    write_file(path, "data-dir = d\n\nworkers = many\n");
    assert_int_equal(READ("epsilond", "--config", path), ST_IO);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "line 3: workers: \"many\""));
    unlink(path);
    setenv("EPSILOND_THREADS", "-1", 1);
    assert_int_equal(READ("epsilond", "--data-dir", "d"), ST_INVALID);
    assert_non_null(strstr(error.text, "EPSILOND_THREADS"));
    unsetenv("EPSILOND_THREADS");
}

static void a_launcher_is_told_how_many_ranks_to_start(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    assert_int_equal(READ("epsilond", "--data-dir", "d"), ST_OK);
    assert_string_equal(config.ranks_launcher, "");
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--ranks-launcher",
                          "mpirun -n 2 epsilond-rank"),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "{ranks}"));
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--ranks-launcher",
                          "mpirun -n {ranks} epsilond-rank", "--ranks-max", "4"),
                     ST_OK);
    assert_int_equal(config.ranks_max, 4);
    assert_int_equal(READ("epsilond", "--data-dir", "d", "--ranks-max", "1025"),
                     ST_INVALID);
}

static void help_and_version_need_nothing_else(void **state)
{
    (void)state;
    struct config config;
    enum config_outcome outcome;
    struct error error;
    assert_int_equal(READ("epsilond", "--help"), ST_OK);
    assert_int_equal(outcome, CONFIG_HELP);
    assert_int_equal(READ("epsilond", "--version"), ST_OK);
    assert_int_equal(outcome, CONFIG_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_win_over_environment_over_file_over_default),
        cmocka_unit_test(elsewhere_than_on_loopback_wants_tls_or_a_proxy),
        cmocka_unit_test(options_that_need_each_other_come_together),
        cmocka_unit_test(files_in_a_bucket_have_a_url_and_a_key_file),
        cmocka_unit_test(a_store_on_a_server_keeps_its_head_in_the_directory),
        cmocka_unit_test(a_role_is_of_a_daemon_that_shares),
        cmocka_unit_test(a_socket_is_a_path),
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test(a_launcher_is_told_how_many_ranks_to_start),
        cmocka_unit_test(help_and_version_need_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
