/*
 * certificates.h - the certificate and key that the daemon presents in TLS, from
 * --tls-cert and --tls-key. Both are read at start, and again on each call of
 * certificates_reload, since they may have been renewed.
 *
 * A connection holds the certificate that was current when it began, until it ends. So
 * a renewed certificate applies to new connections, and the others go on undisturbed.
 *
 * Threads: any, except for certificates_open and certificates_close, which the owner
 * calls first and last.
 */
#ifndef SERVICE_HTTP_CERTIFICATES_H
#define SERVICE_HTTP_CERTIFICATES_H

#include <gnutls/gnutls.h>

#include "base/status.h"

struct certificates; /* opaque: the files, and the last certificate read from them */
struct certificate;  /* opaque: the result of reading the files once */

/* Reads both files, which are PEM: the certificate followed by its chain, and its key.
 * The paths are borrowed as long as it is open.
 *   ST_IO       a file cannot be read
 *   ST_INVALID  everyone may read the key's file, or its group may write it; a file is
 *               too large or no PEM; the key does not belong to the certificate */
enum status certificates_open(struct certificates **out, const char *certificate_path,
                              const char *key_path, struct error *error);

/* Reads both files again. On failure, with the statuses above, the old certificate
 * stays. */
enum status certificates_reload(struct certificates *certificates, struct error *error);

/* Precondition: every certificate was released. NULL is allowed. */
void certificates_close(struct certificates *certificates);

/* Makes the session present the current certificate. Call it before the handshake. The
 * caller holds the certificate that is returned, and releases it after the session's
 * end. */
struct certificate *certificate_hold(struct certificates *certificates,
                                     gnutls_session_t session);
void certificate_release(struct certificate *certificate);

#endif
