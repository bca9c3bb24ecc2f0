/*
 * fault_vfs_fixture.h - simulates a failing disk: a SQLite VFS in front of the real
 * one, whose n-th change (write, sync, truncate or delete) fails, and all later ones
 * too if the fault is sticky. Install it before opening any database. For one process
 * with one thread. Include after tests/expect.h.
 */
#ifndef TESTS_STORE_FAULT_VFS_FIXTURE_H
#define TESTS_STORE_FAULT_VFS_FIXTURE_H

#include <string.h>
#include <sqlite3.h>

enum fault_kind { FAULT_IO, FAULT_FULL };

struct fault_plan {
    long at; /* the change that fails, from 1; 0: none */
    enum fault_kind kind;
    int sticky;
    int torn;   /* the failing write leaves its first half behind */
    long count; /* changes so far */
    long failed;
    long unsynced; /* writes since the last sync */
};

static struct fault_plan fault_plan;

struct fault_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_vfs *fault_real;
static sqlite3_vfs fault_vfs;

static int fault_now(void)
{
    fault_plan.count++;
    int fails =
        fault_plan.at > 0 && (fault_plan.sticky ? fault_plan.count >= fault_plan.at
                                                : fault_plan.count == fault_plan.at);
    fault_plan.failed += fails;
    return fails;
}

static sqlite3_file *fault_inner(sqlite3_file *file)
{
    return ((struct fault_file *)file)->real;
}

static int fault_close(sqlite3_file *file)
{
    sqlite3_file *real = fault_inner(file);
    int rc = real->pMethods->xClose(real);
    sqlite3_free(real);
    return rc;
}

static int fault_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at)
{
    return fault_inner(file)->pMethods->xRead(fault_inner(file), data, size, at);
}

static int fault_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
    sqlite3_file *real = fault_inner(file);
    fault_plan.unsynced++;
    if (!fault_now())
        return real->pMethods->xWrite(real, data, size, at);
    if (fault_plan.torn)
        real->pMethods->xWrite(real, data, size / 2, at);
    return fault_plan.kind == FAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    sqlite3_file *real = fault_inner(file);
    return fault_now() ? SQLITE_IOERR_TRUNCATE : real->pMethods->xTruncate(real, size);
}

/* No test cuts the power, so a successful sync need not wait for the disk. */
static int fault_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    if (fault_now())
        return SQLITE_IOERR_FSYNC;
    fault_plan.unsynced = 0;
    return SQLITE_OK;
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return fault_inner(file)->pMethods->xFileSize(fault_inner(file), size);
}

static int fault_lock(sqlite3_file *file, int level)
{
    return fault_inner(file)->pMethods->xLock(fault_inner(file), level);
}

static int fault_unlock(sqlite3_file *file, int level)
{
    return fault_inner(file)->pMethods->xUnlock(fault_inner(file), level);
}

static int fault_reserved(sqlite3_file *file, int *reserved)
{
    return fault_inner(file)->pMethods->xCheckReservedLock(fault_inner(file), reserved);
}

static int fault_control(sqlite3_file *file, int operation, void *argument)
{
    return fault_inner(file)->pMethods->xFileControl(fault_inner(file), operation,
                                                     argument);
}

static int fault_sector(sqlite3_file *file)
{
    return fault_inner(file)->pMethods->xSectorSize(fault_inner(file));
}

static int fault_device(sqlite3_file *file)
{
    return fault_inner(file)->pMethods->xDeviceCharacteristics(fault_inner(file));
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend,
                         void volatile **memory)
{
    sqlite3_file *real = fault_inner(file);
    return real->pMethods->xShmMap(real, page, size, extend, memory);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    sqlite3_file *real = fault_inner(file);
    return real->pMethods->xShmLock(real, offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file)
{
    fault_inner(file)->pMethods->xShmBarrier(fault_inner(file));
}

static int fault_shm_unmap(sqlite3_file *file, int remove)
{
    return fault_inner(file)->pMethods->xShmUnmap(fault_inner(file), remove);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_reserved,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_device,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    (void)vfs;
    struct fault_file *opened = (struct fault_file *)file;
    opened->base.pMethods = NULL;
    opened->real = sqlite3_malloc(fault_real->szOsFile);
    if (opened->real == NULL)
        return SQLITE_NOMEM;
    memset(opened->real, 0, (size_t)fault_real->szOsFile);
    int rc = fault_real->xOpen(fault_real, name, opened->real, flags, out_flags);
    if (opened->real->pMethods == NULL)
        sqlite3_free(opened->real);
    else
        opened->base.pMethods = &fault_methods;
    return rc;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    return fault_now() ? SQLITE_IOERR_DELETE
                       : fault_real->xDelete(fault_real, name, sync);
}

static inline void fault_install(void)
{
    fault_real = sqlite3_vfs_find(NULL);
    assert_non_null(fault_real);
    fault_vfs = *fault_real;
    fault_vfs.zName = "fault";
    fault_vfs.szOsFile = sizeof(struct fault_file);
    fault_vfs.xOpen = fault_open;
    fault_vfs.xDelete = fault_delete;
    assert_int_equal(sqlite3_vfs_register(&fault_vfs, 1), SQLITE_OK);
}

#endif
