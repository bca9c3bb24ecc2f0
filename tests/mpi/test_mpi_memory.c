/* Goal: the files through which ranks exchange data are unlinked, and no other file is;
 * ranks of one machine use only memory, unless the operator chooses otherwise. Method:
 * a file under such a name that is mapped here, and the variables that a launcher
 * sets. */
#include "mpi/mpi_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/expect.h"

enum { SIZE = 4096 };
#define FOLDER_VARIABLE "OMPI_MCA_btl_vader_backing_directory"

static char folder[] = "/tmp/epsilond-memory-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

struct mapped {
    char path[64];
    char *memory;
};

static struct mapped map(const char *name)
{
    struct mapped mapped;
    snprintf(mapped.path, sizeof mapped.path, "%s/%s", folder, name);
    int file = open(mapped.path, O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, SIZE), 0);
    mapped.memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(mapped.memory, MAP_FAILED);
    close(file);
    return mapped;
}

static void shared_memory_loses_its_name_and_nothing_else_does(void **state)
{
    (void)state;
    struct mapped own = map("vader_segment.host.0.5e1f0001.0"),
                  peer = map("sm_segment.host.0.5e1f0001.1"),
                  records = map("digits.matrix");
    struct stat info;
    mpi_memory_hide();
    assert_int_equal(access(own.path, F_OK), -1);
    assert_int_equal(access(peer.path, F_OK), -1);
    assert_int_equal(access(records.path, F_OK), 0);
    own.memory[7] = 23; /* it is still memory */
    mpi_memory_hide();  /* as each rank does */
    mpi_memory_name_again();
    assert_int_equal(stat(own.path, &info), 0);
    assert_int_equal(info.st_mode, S_IFREG | 0600);
    assert_int_equal(info.st_size, 0);
    const struct mapped *all[] = {&own, &peer, &records};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(unlink(all[k]->path), 0);
        assert_int_equal(munmap(all[k]->memory, SIZE), 0);
    }
}

/* Sets the variables of a launcher that has started `here` of `all` ranks on this
 * machine, with files in the folder `place`. */
static void set_launch(const char *here, const char *all, const char *place)
{
    static const char *const ours[] = {"OMPI_MCA_btl", "OMPI_MCA_pml"};
    for (int k = 0; k < 2; k++)
        unsetenv(ours[k]);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", here, 1);
    setenv("OMPI_COMM_WORLD_SIZE", all, 1);
    setenv(FOLDER_VARIABLE, place, 1);
    setenv("TMPDIR", place, 1);
}

static void ranks_of_one_machine_use_memory_only(void **state)
{
    (void)state;
    set_launch("3", "3", folder);
    assert_int_equal(mpi_memory_prepare(NULL), ST_OK);
    assert_string_equal(getenv("OMPI_MCA_btl"), "self,vader");
    assert_string_equal(getenv("OMPI_MCA_pml"), "ob1");
    assert_string_equal(getenv(FOLDER_VARIABLE), folder);
    assert_string_equal(getenv("TMPDIR"), folder);
    setenv("OMPI_MCA_btl", "self,tcp", 1); /* the operator's choice stays */
    assert_int_equal(mpi_memory_prepare(NULL), ST_OK);
    assert_string_equal(getenv("OMPI_MCA_btl"), "self,tcp");
}

static void ranks_of_several_machines_choose_their_transport(void **state)
{
    (void)state;
    set_launch("1", "3", folder);
    assert_int_equal(mpi_memory_prepare(NULL), ST_OK);
    assert_null(getenv("OMPI_MCA_btl"));
    assert_string_equal(getenv(FOLDER_VARIABLE), folder);
    set_launch("1", "3", "/no/such/folder"); /* of a daemon on another machine */
    assert_int_equal(mpi_memory_prepare(NULL), ST_OK);
    assert_null(getenv(FOLDER_VARIABLE));
    assert_null(getenv("TMPDIR"));
}

static void a_rank_whose_daemon_has_ended_the_job_does_not_begin(void **state)
{
    (void)state;
    struct error error = {0};
    set_launch("3", "3", "/no/such/folder");
    assert_int_equal(mpi_memory_prepare(&error), ST_CANCELLED);
    assert_non_null(strstr(error.text, "/no/such/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_loses_its_name_and_nothing_else_does),
        cmocka_unit_test(ranks_of_one_machine_use_memory_only),
        cmocka_unit_test(ranks_of_several_machines_choose_their_transport),
        cmocka_unit_test(a_rank_whose_daemon_has_ended_the_job_does_not_begin),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
