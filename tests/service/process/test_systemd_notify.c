/* Goal: the process's parent is notified by datagrams to the socket that it names, and
 * no datagram is sent if there is none, or one of another form. */
#include "service/process/systemd_notify.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/expect.h"

static int listen_at(const char *path, size_t length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    int listening = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_true(listening >= 0);
    assert_int_equal(bind(listening, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    return listening;
}

static void expect_told(const char *path)
{
    char got[64];
    int listening = listen_at(path, strlen(path));
    setenv("NOTIFY_SOCKET", path, 1);
    struct systemd_notify *manager = systemd_notify_open();
    assert_non_null(manager);
    systemd_notify_tell(manager, "READY=1");
    ssize_t size = recv(listening, got, sizeof got, 0);
    assert_int_equal(size, 7);
    assert_memory_equal(got, "READY=1", 7);
    close(listening);
    systemd_notify_tell(manager,
                        "WATCHDOG=1"); /* no one receives it, and nothing happens */
    systemd_notify_close(manager);
}

static void it_is_told_at_a_path_and_at_a_name(void **state)
{
    (void)state;
    char folder[] = "/tmp/epsilond-test-XXXXXX", path[64], name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    expect_told(path);
    unlink(path);
    rmdir(folder);
    snprintf(name, sizeof name, "@epsilond-test-%ld", (long)getpid());
    expect_told(name);
}

static void nobody_is_told_where_there_is_no_socket(void **state)
{
    (void)state;
    char longer[200];
    memset(longer, '/', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    const char *const none[] = {"", "/", "relative", "vsock:2:1234", longer};
    unsetenv("NOTIFY_SOCKET");
    assert_null(systemd_notify_open());
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        setenv("NOTIFY_SOCKET", none[i], 1);
        assert_null(systemd_notify_open());
    }
    systemd_notify_tell(NULL, "READY=1");
    systemd_notify_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_at_a_path_and_at_a_name),
        cmocka_unit_test(nobody_is_told_where_there_is_no_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
