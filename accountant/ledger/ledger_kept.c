#include "accountant/ledger/ledger_kept.h"

enum status ledger_kept_read(struct ledger_kept *kept, const char *path,
                             struct error *error)
{
    *kept = (struct ledger_kept){0};
    enum status status = head_file_read(path, &kept->head, &kept->found, error);
    if (status == ST_OK && kept->found)
        status = head_file_links(path, &kept->head, &kept->links, error);
    return status;
}

void ledger_kept_fini(struct ledger_kept *kept)
{
    chain_links_fini(&kept->links);
}
