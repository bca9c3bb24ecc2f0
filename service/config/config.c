#include "service/config/config.h"

#include <arpa/inet.h>

bool config_is_loopback(const char *address)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, address, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool config_is_local(const struct config *config)
{
    return config->socket_path[0] != '\0' || config_is_loopback(config->address);
}

static const char help[] =
    "usage: epsilond --data-dir DIR [--listen ADDR:PORT] [options]\n"
    "       epsilond verify --data-dir DIR [--from-genesis --archive FOLDER]\n"
    "       epsilond seal --data-dir DIR --archive FOLDER [--head-file PATH]\n"
    "       epsilond backup FOLDER --data-dir DIR\n"
    "       epsilond restore BACKUP --data-dir DIR [--head-file PATH]\n"
    "       epsilond migrate --from DIR --to URL, or --from URL --to DIR\n"
    "       epsilond ping [--listen ADDR:PORT]\n"
    "       epsilond --demo\n"
    "       epsilond rank (started by --ranks-launcher)\n"
    "       epsilond key create|list|revoke ... --data-dir DIR\n"
    "       epsilond regrant ID --epsilon E --delta D [--order A] --data-dir "
    "DIR\n"
    "\n"
    "  --data-dir DIR             where everything is kept (required)\n"
    "  --listen ADDR:PORT         port 0 takes a free one [127.0.0.1:8080];\n"
    "                             other than loopback needs a key (epsilond "
    "key\n"
    "                             create) and TLS, here or in a proxy\n"
    "  --listen unix:PATH         a socket in the file system, mode 0660\n"
    "  --tls-cert FILE            PEM: speak HTTPS; read again on SIGHUP\n"
    "  --tls-key FILE             its key, which others must not read\n"
    "  --behind-proxy on|off      a proxy with TLS stands in front [off]\n"
    "  --trust-proxy unix|NET     from where X-Forwarded-User, -Email, -Groups "
    "are\n"
    "                             believed: the socket, or 10.1.0.0/16\n"
    "  --groups FILE              JSON: the role and project of each group; "
    "read\n"
    "                             again on SIGHUP\n"
    "  --workers N                jobs that train at once [half the cores]\n"
    "  --threads N                threads of each job [cores / workers]\n"
    "  --queue-length-max N       jobs that may wait [1000]\n"
    "  --upload-size-max BYTES    of one uploaded file [16 GiB]\n"
    "  --unpacked-size-max BYTES  of one file after gzip [64 GiB]\n"
    "  --job-memory-max BYTES     of one job [half of RAM]\n"
    "  --ranks-launcher COMMAND   starts the processes of a job of several "
    "ranks:\n"
    "                             mpirun -n {ranks} epsilond rank [none]\n"
    "  --ranks-max N              of one job; each takes its threads and memory "
    "[16]\n"
    "  --ranks-network BYTES      a second between them, for estimates [1.1 "
    "GB]\n"
    "  --drain-timeout SECONDS    for running jobs after SIGTERM [120]\n"
    "  --reveal-delay SECONDS     random delay before each quarter and the end "
    "of a\n"
    "                             private job are shown, at most; wider shows\n"
    "                             less of its speed [4]\n"
    "  --head-file PATH           the ledger's head, kept on another disk too\n"
    "  --store postgresql://...   the database, in place of a file in DIR\n"
    "  --single-server on|off     it may have no synchronous standby [off]\n"
    "  --role api|worker|api,worker\n"
    "                             share it with other daemons: answer "
    "requests,\n"
    "                             train, or both [alone: share it with none]\n"
    "  --migrate on|off           move its older tables forward [off]\n"
    "  --blobs s3://BUCKET[/PFX]  the files, in place of folders in DIR\n"
    "  --blobs-key-file FILE      what they are encrypted with: 64 hex digits\n"
    "  --cache-size BYTES         of those that are read here [64 GiB]\n"
    "  --check-objects on|off     verify reads them too [off]\n"
    "  --metrics-listen ADDR:PORT /metrics for a scraper here, without a key\n"
    "  --metrics-datasets-max N   budgets in /metrics, least left first [1000]\n"
    "  --outbound-allow ADDRESSES addresses or blocks, with commas, that "
    "webhooks "
    "and\n"
    "                             fetches may reach besides public ones [none]\n"
    "  --outbound-ca FILE         authorities for these, in PEM [the system's]\n"
    "  --ui on|off                the dashboard, for a browser, at /ui/ [on]\n"
    "  --approvals on|off         grants wait for a second person, where there "
    "are keys [on]\n"
    "  --audit-ip on|off          addresses of clients in the audit trail [on]\n"
    "  --log-level LEVEL          debug, info, warning, error [info]\n"
    "  --config FILE              lines of `name = value`\n"
    "\n"
    "Each option may also stand in the environment: EPSILOND_DATA_DIR.\n"
    "A flag wins over the environment, that over the file.\n"
    "Exit: 0 stopped, 64 usage, 65 the ledger does not verify, 75 I/O error or "
    "the\n"
    "directory is in use, 78 configuration file.\n";

const char *config_help(void)
{
    return help;
}
