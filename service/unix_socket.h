/*
 * unix_socket.h - a socket in the file system, to listen on: whoever may write the file may
 * connect, so a proxy on the same machine can be let in and nobody else.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_UNIX_SOCKET_H
#define SERVICE_UNIX_SOCKET_H

#include "base/status.h"

enum { UNIX_SOCKET_PATH_SIZE = 108 }; /* sun_path of the system */

/* Makes the file at path, of mode 0660, and listens. A socket that a dead process has left
 * there is replaced. *out is the caller's to close.
 *   ST_IO  the path cannot be had, or somebody listens there */
enum status unix_socket_listen(int *out, const char *path, int backlog,
                               struct error *error);

#endif
