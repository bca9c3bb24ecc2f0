/*
 * config.h - the configuration of this process. A flag overrides the environment
 * (EPSILOND_DATA_DIR for --data-dir), which overrides the file named by --config (lines
 * of `data-dir = DIR`, and comments that begin with #), which overrides the default. An
 * unknown name is an error.
 *
 * Ownership: plain data.
 */
#ifndef SERVICE_CONFIG_CONFIG_H
#define SERVICE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "service/config/daemon_role.h"
#include "service/config/proxy_trust.h"
#include "service/config/unix_socket.h"
#include "service/outbound/host_address.h"

enum { CONFIG_PATH_SIZE = 4096, CONFIG_ADDRESS_SIZE = 64 };

struct config {
    char data_dir[CONFIG_PATH_SIZE];
    char address[CONFIG_ADDRESS_SIZE]; /* numeric; without brackets */
    uint16_t port;                     /* 0: any that is free; logged when listening */
    char socket_path[UNIX_SOCKET_PATH_SIZE]; /* used instead; "" for none */
    char tls_certificate[CONFIG_PATH_SIZE];  /* both, or "" for plain HTTP */
    char tls_key[CONFIG_PATH_SIZE];
    unsigned workers; /* jobs that run at once */
    unsigned threads; /* threads of each job */
    uint64_t queue_length_max, upload_size_max, unpacked_size_max;
    uint64_t job_memory_max;               /* bytes */
    char ranks_launcher[CONFIG_PATH_SIZE]; /* starts the ranks of a job; "": none */
    unsigned ranks_max;                    /* of one job */
    uint64_t ranks_network; /* bytes a second, from and to each rank; for estimates */
    unsigned drain_timeout_s;
    unsigned reveal_delay_ms; /* width of the waits of private runs (reveal_delay.h) */
    char metrics_address[CONFIG_ADDRESS_SIZE]; /* like address; "" for none */
    uint16_t metrics_port;
    size_t metrics_datasets_max; /* budgets in /metrics */
    bool ui;                     /* serve the dashboard */
    bool approvals; /* grants wait for a second person, if there are keys */
    bool audit_ip;  /* write the addresses of clients to the audit trail */
    /* A proxy with TLS is in front: the daemon may listen without TLS on other
     * addresses than loopback. */
    bool behind_proxy;
    struct proxy_trust trust_proxy; /* its headers name the user; needs groups */
    char groups[CONFIG_PATH_SIZE];  /* file with the groups' roles; "": none */
    enum log_level log_level;
    char head_file[CONFIG_PATH_SIZE]; /* "" for none */
    /* the URL of a database server; "": a file in data_dir */
    char store[CONFIG_PATH_SIZE];
    bool single_server;           /* that server may have no standby */
    enum daemon_role role;        /* of the daemons that share it */
    bool migrate;                 /* move an older schema of it forward */
    char blobs[CONFIG_PATH_SIZE]; /* s3://bucket/prefix; "": folders of data_dir */
    char blobs_key_file[CONFIG_PATH_SIZE]; /* encrypts the keys of blobs; "": none */
    uint64_t cache_size; /* bytes of local copies of a bucket's blobs */
    bool check_objects;  /* `verify` reads the objects */
    /* may be called in addition to public ones */
    struct host_address_list outbound_allow;
    /* certificates of authorities; "": the system's */
    char outbound_ca[CONFIG_PATH_SIZE];
};

enum config_outcome { CONFIG_RUN, CONFIG_HELP, CONFIG_VERSION };

/* Reads arguments, environment and file into config, starting from the defaults.
 *   ST_INVALID  error->text names the option and what it allows: exit 64 (78 for the
 *               file)
 *   ST_IO       the file named by --config cannot be read: exit 78 */
enum status config_read(struct config *config, enum config_outcome *outcome, int argc,
                        char **argv, struct error *error);

/* Returns whether the numeric address is a loopback address. */
bool config_is_loopback(const char *address);

/* Returns whether only users of this host can connect: the daemon listens on a loopback
 * address, or a socket in the file system. Otherwise it needs keys, and TLS, its own or
 * a proxy's. */
bool config_is_local(const struct config *config);

/* Returns the text of --help. */
const char *config_help(void);

#endif
