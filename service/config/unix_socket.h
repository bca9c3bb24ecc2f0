/*
 * unix_socket.h - a socket in the file system, to listen on: a user that may write the
 * file may connect, so access can be limited to a proxy on the same machine.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_CONFIG_UNIX_SOCKET_H
#define SERVICE_CONFIG_UNIX_SOCKET_H

#include "base/status.h"

enum { UNIX_SOCKET_PATH_SIZE = 108 }; /* size of sun_path */

/* Makes the file at path, of mode 0660, and listens. A socket that a dead process has
 * left there is replaced. The caller closes *out.
 *   ST_IO  the path cannot be used, or a process listens there */
enum status unix_socket_listen(int *out, const char *path, int backlog,
                               struct error *error);

#endif
