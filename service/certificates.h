/*
 * certificates.h - how the daemon shows a client who it is, where it speaks TLS: the
 * certificate and key of --tls-cert and --tls-key, which are read at the start and again
 * whenever they may have been renewed.
 *
 * A connection holds the certificate that was current when it began, until it ends. So
 * a renewed one is for new connections, and the others go on undisturbed.
 *
 * Threads: any, but certificates_open and certificates_close, which their owner calls
 * first and last.
 */
#ifndef SERVICE_CERTIFICATES_H
#define SERVICE_CERTIFICATES_H

#include <gnutls/gnutls.h>

#include "base/status.h"

struct certificates; /* opaque: the files and what was read from them last */
struct certificate;  /* opaque: what was read from them once */

/* Reads both files, which are PEM: the certificate with those that lead to its authority
 * behind it, and its key. The paths are borrowed for as long as it is open.
 *   ST_IO       a file cannot be read
 *   ST_INVALID  the key's file may be read by everybody, or written by its group; a file
 *               is too large or no PEM; the key is not the certificate's */
enum status certificates_open(struct certificates **out, const char *certificate_path,
                              const char *key_path, struct error *error);

/* Reads both files again. Where that fails, as above, the certificate stays what it
 * was. */
enum status certificates_reload(struct certificates *certificates, struct error *error);

/* Every certificate must have been released. NULL is allowed. */
void certificates_close(struct certificates *certificates);

/* Has the session show the current certificate, before its handshake begins. The answer
 * is held until it is released, which must be after the session's end. */
struct certificate *certificate_hold(struct certificates *certificates,
                                     gnutls_session_t session);
void certificate_release(struct certificate *certificate);

#endif
