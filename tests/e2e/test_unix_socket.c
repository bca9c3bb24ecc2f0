/* Goal: on --listen unix:PATH the daemon answers only processes that may open the file;
 * a file that a dead process left there is replaced, one that a live process holds is
 * not. */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"

static void it_serves_kills_and_starts_again(void **state)
{
    struct daemon daemon;
    struct client client;
    struct stat info;
    char listen[128];
    (void)state;
    daemon_init(&daemon);
    client_init(&client, &daemon);
    snprintf(listen, sizeof listen, "unix:%s/socket", daemon.directory);
    const char *const options[] = {"--listen", listen, NULL};
    daemon_start(&daemon, options);
    assert_int_equal(daemon.port, 0);
    assert_int_equal(stat(daemon.socket_path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0660);
    assert_status(client_get(&client, "/v1/datasets"), 200);
    assert_int_equal(daemon_stop(&daemon, SIGKILL), 128 + SIGKILL);
    assert_int_equal(stat(daemon.socket_path, &info), 0);

    daemon_start(&daemon, options);
    assert_status(client_get(&client, "/v1/datasets"), 200);
    char other[96];
    snprintf(other, sizeof other, "%s/other", daemon.directory);
    assert_int_equal(
        daemon_run(&daemon, (const char *const[]){"--data-dir", other, "--listen",
                                                  listen, NULL}),
        75);
    assert_true(daemon_logged(&daemon, "Address already in use"));
    assert_status(client_get(&client, "/v1/datasets"), 200);

    assert_int_equal(daemon_stop(&daemon, SIGTERM), 0);
    assert_int_not_equal(stat(listen + strlen("unix:"), &info), 0);
    client_fini(&client);
    daemon_fini(&daemon);
}

static void a_file_that_is_no_socket_stays(void **state)
{
    struct daemon daemon;
    struct stat info;
    char listen[128];
    (void)state;
    daemon_init(&daemon);
    snprintf(listen, sizeof listen, "unix:%s/log", daemon.directory);
    assert_int_equal(
        daemon_run(&daemon, (const char *const[]){"--data-dir", daemon.data_dir,
                                                  "--listen", listen, NULL}),
        75);
    assert_int_equal(stat(listen + strlen("unix:"), &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(
        daemon_run(&daemon, (const char *const[]){"--data-dir", daemon.data_dir,
                                                  "--listen", "unix:rel", NULL}),
        64);
    daemon_fini(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_serves_kills_and_starts_again),
        cmocka_unit_test(a_file_that_is_no_socket_stays),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
