#include "service/process/disk_room.h"

#include <stddef.h>

#include "base/log.h"

static const uint64_t disk_free_min = UINT64_C(64) << 20; /* bytes */
static const uint64_t shown_grain = UINT64_C(1) << 30;

void disk_room_init(struct disk_room *room, struct blobs *blobs)
{
    room->blobs = blobs;
    atomic_init(&room->left, 0);
    atomic_init(&room->free, 0);
    room->shown = (struct held_figure){0};
}

void disk_room_measure(struct disk_room *room)
{
    uint64_t free_bytes = 0;
    struct error error = {0};
    if (blobs_free(room->blobs, &free_bytes, &error) != ST_OK)
        log_event(LOG_ERROR, "disk", "detail", error.text, (char *)NULL);
    else
        free_bytes += blobs_trim(room->blobs, free_bytes);
    atomic_store(&room->free, free_bytes);
    held_figure_see(&room->shown, free_bytes, shown_grain);
    atomic_store(&room->left,
                 free_bytes > disk_free_min ? free_bytes - disk_free_min : 0);
}

uint64_t disk_room_left(const struct disk_room *room)
{
    return atomic_load(&room->left);
}

uint64_t disk_room_free(const struct disk_room *room)
{
    return atomic_load(&room->free);
}

uint64_t disk_room_shown(const struct disk_room *room)
{
    return held_figure_shown(&room->shown);
}

void disk_room_take(struct disk_room *room, uint64_t size)
{
    uint_fast64_t left = atomic_load(&room->left);
    while (!atomic_compare_exchange_weak(&room->left, &left,
                                         left > size ? left - size : 0))
        continue;
}

enum status disk_room_check(const struct disk_room *room, struct error *error)
{
    if (disk_room_left(room) == 0)
        return error_set(error, ST_DISK_FULL, "the disk is nearly full");
    return ST_OK;
}
