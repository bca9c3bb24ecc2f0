/*
 * config.h - how this process was told to run. A flag wins over the environment
 * (EPSILOND_DATA_DIR for --data-dir), that over the file named by --config (lines of
 * `data-dir = DIR`, and comments that begin with #), that over the default. An unknown
 * name is an error.
 *
 * Ownership: plain data.
 */
#ifndef SERVICE_CONFIG_H
#define SERVICE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/status.h"
#include "service/daemon_role.h"
#include "service/outbound/host_address.h"
#include "service/proxy_trust.h"
#include "service/unix_socket.h"

enum { CONFIG_PATH_SIZE = 4096, CONFIG_ADDRESS_SIZE = 64 };

struct config {
    char data_dir[CONFIG_PATH_SIZE];
    char address[CONFIG_ADDRESS_SIZE]; /* numeric; without brackets */
    uint16_t port;                     /* 0: any that is free; logged when listening */
    char socket_path[UNIX_SOCKET_PATH_SIZE]; /* listened on instead; "" for none */
    char tls_certificate[CONFIG_PATH_SIZE];  /* both, or "" where HTTP is plain */
    char tls_key[CONFIG_PATH_SIZE];
    unsigned workers; /* how many jobs run at once */
    unsigned threads; /* how many threads each of them has */
    uint64_t queue_length_max, upload_size_max, unpacked_size_max;
    uint64_t job_memory_max; /* bytes */
    char ranks_launcher[CONFIG_PATH_SIZE]; /* starts the ranks of a job; "": none does */
    unsigned ranks_max;     /* of one job */
    uint64_t ranks_network; /* bytes a second, from and to each rank; for estimates */
    unsigned drain_timeout_s;
    unsigned reveal_delay_ms; /* width of the waits of private runs (reveal_delay.h) */
    char metrics_address[CONFIG_ADDRESS_SIZE]; /* like address; "" for none */
    uint16_t metrics_port;
    size_t metrics_datasets_max; /* budgets that /metrics shows */
    bool ui;                     /* whether the dashboard is served */
    bool approvals; /* grants wait for a second person, where there are keys */
    bool audit_ip;  /* whether the audit trail keeps the addresses of clients */
    /* A proxy with TLS stands in front: other addresses than loopback may be listened on
     * without it. */
    bool behind_proxy;
    struct proxy_trust trust_proxy; /* that says who asks; with it goes */
    char groups[CONFIG_PATH_SIZE];  /* the file of what groups may; "": none */
    enum log_level log_level;
    char head_file[CONFIG_PATH_SIZE]; /* "" for none */
    char store
        [CONFIG_PATH_SIZE]; /* the URL of a database server; "": a file in data_dir */
    bool single_server;     /* that server may have no standby */
    enum daemon_role role;  /* of those that share it */
    bool migrate;           /* an older schema of it is moved forward */
    char blobs[CONFIG_PATH_SIZE]; /* s3://bucket/prefix; "": folders of data_dir */
    char blobs_key_file[CONFIG_PATH_SIZE]; /* that wraps the keys of blobs; "": none */
    uint64_t cache_size; /* bytes, of the blobs of a bucket that are here */
    bool check_objects;  /* `verify` reads them */
    struct host_address_list
        outbound_allow; /* that may be called beside public addresses */
    char outbound_ca
        [CONFIG_PATH_SIZE]; /* certificates of authorities; "": the system's */
};

enum config_outcome { CONFIG_RUN, CONFIG_HELP, CONFIG_VERSION };

/* Reads arguments, environment and file into config, defaults first.
 *   ST_INVALID  error->text names the option and what it allows: exit 64 (78 for the
 *               file)
 *   ST_IO       the file named by --config cannot be read: exit 78 */
enum status config_read(struct config *config, enum config_outcome *outcome, int argc,
                        char **argv, struct error *error);

/* Whether the address, numeric, is this host's own. */
bool config_is_loopback(const char *address);

/* Whether nobody but users of this host can reach it: by a loopback address, or a socket in
 * the file system. Elsewhere keys are asked for, and TLS or a proxy that has it. */
bool config_is_local(const struct config *config);

/* What --help prints. */
const char *config_help(void);

#endif
