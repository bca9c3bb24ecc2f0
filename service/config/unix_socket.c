#include "service/config/unix_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof((struct sockaddr_un *)0)->sun_path == UNIX_SOCKET_PATH_SIZE,
               "the system's own bound");

enum { SOCKET_MODE = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP };

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Returns whether no process listens at the address any more, though its file is
 * there. */
static bool is_left_over(const struct sockaddr_un *address)
{
    struct stat info;
    int probe = open_socket();
    if (probe < 0)
        return false;
    bool refused =
        stat(address->sun_path, &info) == 0 && S_ISSOCK(info.st_mode) &&
        connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED;
    close(probe);
    return refused;
}

enum status unix_socket_listen(int *out, const char *path, int backlog,
                               struct error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct sockaddr *any = (const struct sockaddr *)&address;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = open_socket();
    if (is_left_over(&address))
        unlink(path);
    if (fd >= 0 && bind(fd, any, sizeof address) == 0 &&
        chmod(path, SOCKET_MODE) == 0 && listen(fd, backlog) == 0) {
        *out = fd;
        return ST_OK;
    }
    error_set(error, ST_IO, "cannot listen on unix:%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ST_IO;
}
