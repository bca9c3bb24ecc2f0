#include "service/process/systemd_notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/check.h"

struct systemd_notify {
    int socket;
    struct sockaddr_un address;
    socklen_t size; /* of address */
};

struct systemd_notify *systemd_notify_open(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path != NULL ? strlen(path) : 0;
    struct systemd_notify made = {.address.sun_family = AF_UNIX};
    /* A path, or an abstract name, which is written with @ in place of its NUL. */
    if (length < 2 || length >= sizeof made.address.sun_path ||
        (path[0] != '/' && path[0] != '@'))
        return NULL;
    memcpy(made.address.sun_path, path, length);
    if (path[0] == '@')
        made.address.sun_path[0] = '\0';
    made.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    made.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made.socket < 0)
        return NULL;
    struct systemd_notify *manager = malloc(sizeof *manager);
    CHECK(manager != NULL);
    *manager = made;
    return manager;
}

void systemd_notify_close(struct systemd_notify *manager)
{
    if (manager == NULL)
        return;
    close(manager->socket);
    free(manager);
}

void systemd_notify_tell(const struct systemd_notify *manager, const char *message)
{
    if (manager == NULL)
        return;
    ssize_t sent = sendto(manager->socket, message, strlen(message), MSG_NOSIGNAL,
                          (const struct sockaddr *)&manager->address, manager->size);
    (void)sent;
}
