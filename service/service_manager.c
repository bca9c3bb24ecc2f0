#include "service/service_manager.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/check.h"

struct service_manager {
    int socket;
    struct sockaddr_un address;
    socklen_t size; /* of address */
};

struct service_manager *service_manager_open(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path != NULL ? strlen(path) : 0;
    struct service_manager made = {.address.sun_family = AF_UNIX};
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
    struct service_manager *manager = malloc(sizeof *manager);
    CHECK(manager != NULL);
    *manager = made;
    return manager;
}

void service_manager_close(struct service_manager *manager)
{
    if (manager == NULL)
        return;
    close(manager->socket);
    free(manager);
}

void service_manager_tell(const struct service_manager *manager, const char *message)
{
    if (manager == NULL)
        return;
    ssize_t sent = sendto(manager->socket, message, strlen(message), MSG_NOSIGNAL,
                          (const struct sockaddr *)&manager->address, manager->size);
    (void)sent;
}
