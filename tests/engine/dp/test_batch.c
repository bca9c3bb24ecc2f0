/* Goal: pieces cover the batch once, follow the cells of the grid, and are divided
 * evenly. Method: cells recomputed record by record; every number of shares. */
#include "engine/dp/batch.h"

#include "tests/expect.h"

enum { RECORDS = 10007, CELLS = 13 };

static const struct grid grid = {.records = RECORDS, .cells = CELLS};

static void draw(struct batch *batch, uint32_t step, uint32_t from)
{
    size_t count = 0;
    assert_int_equal(batch_init(batch, RECORDS, RECORDS, NULL), ST_OK);
    for (uint32_t i = from; i < RECORDS; i += step + i % 3)
        batch->indices[count++] = i;
    batch_drawn(batch, count);
}

/* Returns the k with floor(k n / cells) <= i < floor((k + 1) n / cells). */
static uint64_t cell_of(uint32_t i)
{
    uint64_t k = 0;
    while ((k + 1) * RECORDS / CELLS <= i)
        k++;
    return k;
}

static void pieces_are_the_cells(void **state)
{
    (void)state;
    struct batch batch;
    draw(&batch, 7, 900); /* the first cell is empty */
    batch_cut_cells(&batch, &grid);
    assert_int_equal(batch.piece_count, CELLS - 1);
    size_t next = 0;
    for (size_t p = 0; p < batch.piece_count; p++) {
        struct piece piece = batch.pieces[p];
        assert_int_equal(piece.first, next);
        assert_true(piece.count > 0);
        next += piece.count;
        for (size_t k = 0; k < piece.count; k++)
            assert_int_equal(cell_of(batch.indices[piece.first + k]), p + 1);
    }
    assert_int_equal(next, batch.count);
    batch_fini(&batch);
}

/* Pieces of one record take no memory: a batch may have as many as the dataset. */
static void each_record_is_a_piece_of_single_cells(void **state)
{
    (void)state;
    const struct grid single = {.records = RECORDS, .cells = RECORDS};
    struct batch batch;
    size_t count = 0;
    assert_int_equal(batch_init(&batch, RECORDS, 0, NULL), ST_OK);
    for (uint32_t i = 0; i < RECORDS; i += 1 + i % 5)
        batch.indices[count++] = i;
    batch_drawn(&batch, count);
    batch_cut_cells(&batch, &single);
    assert_int_equal(batch.piece_count, count);
    for (size_t p = 0; p < count; p++) {
        assert_int_equal(batch_piece(&batch, p).first, p);
        assert_int_equal(batch_piece(&batch, p).count, 1);
    }
    for (unsigned n = 1; n <= 9; n++) {
        assert_int_equal(batch_share(&batch, n, n), count);
        for (unsigned k = 0; k < n; k++) {
            size_t held = batch_share(&batch, k + 1, n) - batch_share(&batch, k, n);
            assert_in_range(held, count / n, count / n + 1);
        }
    }
    batch_drawn(&batch, 0);
    batch_cut_cells(&batch, &single);
    assert_int_equal(batch.piece_count, 0);
    assert_int_equal(batch_share(&batch, 1, 2), 0);
    batch_fini(&batch);
}

static void what_is_kept_is_what_lies_in_the_range(void **state)
{
    (void)state;
    static const struct index_range ranges[] = {
        {0, RECORDS}, {0, 1}, {3001, 2002}, {RECORDS - 9, 9}, {500, 0}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        struct batch batch, all;
        size_t kept = 0;
        draw(&batch, 7, 0);
        draw(&all, 7, 0);
        batch_keep(&batch, ranges[r]);
        for (size_t k = 0; k < all.count; k++)
            if (all.indices[k] >= ranges[r].first &&
                all.indices[k] < ranges[r].first + ranges[r].count)
                assert_int_equal(batch.indices[kept++], all.indices[k]);
        assert_int_equal(batch.count, kept);
        batch_fini(&batch);
        batch_fini(&all);
    }
}

static void even_pieces_cover_the_batch(void **state)
{
    (void)state;
    struct batch batch;
    draw(&batch, 7, 0);
    batch_cut_evenly(&batch, 64);
    assert_int_equal(batch.piece_count, (batch.count + 63) / 64);
    for (size_t p = 0; p < batch.piece_count; p++)
        assert_int_equal(batch.pieces[p].first, 64 * p);
    struct piece last = batch.pieces[batch.piece_count - 1];
    assert_int_equal(last.first + last.count, batch.count);
    batch_fini(&batch);
}

static void shares_are_contiguous_and_even(void **state)
{
    (void)state;
    struct batch batch;
    draw(&batch, 1, 0);
    batch_cut_cells(&batch, &grid);
    for (unsigned n = 1; n <= 2 * CELLS; n++) {
        assert_int_equal(batch_share(&batch, 0, n), 0);
        assert_int_equal(batch_share(&batch, n, n), batch.piece_count);
        for (unsigned k = 0; k < n; k++) {
            size_t first = batch_share(&batch, k, n),
                   end = batch_share(&batch, k + 1, n);
            size_t held = 0;
            assert_true(first <= end);
            for (size_t p = first; p < end; p++)
                held += batch.pieces[p].count;
            assert_true(held <= batch.count / n + batch.count / CELLS + 2);
        }
    }
    batch_fini(&batch);
}

static void an_empty_batch_has_no_pieces(void **state)
{
    (void)state;
    struct batch batch;
    assert_int_equal(batch_init(&batch, RECORDS, CELLS, NULL), ST_OK);
    batch_cut_cells(&batch, &grid);
    assert_int_equal(batch.piece_count, 0);
    assert_int_equal(batch_share(&batch, 1, 2), 0);
    batch_cut_evenly(&batch, 16);
    assert_int_equal(batch.piece_count, 0);
    batch_fini(&batch);
    batch_fini(&batch);
}

static void memory_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    struct batch batch;
    struct error error = {0};
    if (SANITIZED)
        skip_because("a sanitizer's allocator aborts");
    assert_int_equal(batch_init(&batch, SIZE_MAX / 4, 1, &error), ST_NO_MEMORY);
    assert_int_equal(error.status, ST_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_cells),
        cmocka_unit_test(each_record_is_a_piece_of_single_cells),
        cmocka_unit_test(what_is_kept_is_what_lies_in_the_range),
        cmocka_unit_test(even_pieces_cover_the_batch),
        cmocka_unit_test(shares_are_contiguous_and_even),
        cmocka_unit_test(an_empty_batch_has_no_pieces),
        cmocka_unit_test(memory_that_cannot_be_had_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
