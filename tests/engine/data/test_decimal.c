/* Goal: text is converted to exactly the nearest double. Method: every code path of
 * rounding against glibc's strtod, over kinds of numbers drawn from a fixed key, and
 * the known hard cases. */
#include "tests/expect.h"

#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "engine/data/decimal.h"

static double read_whole(const char *text)
{
    double value = NAN, with_comma = NAN;
    char comma[DECIMAL_SIZE_MAX + 1];
    const char *end = text + strlen(text);
    if (decimal_read(&value, text, end) != end)
        fail_msg("%s was not read to its end", text);
    strcpy(comma, text);
    if (strchr(comma, '.') != NULL)
        *strchr(comma, '.') = ',';
    end = comma + strlen(comma);
    if (decimal_read_comma(&with_comma, comma, end) != end)
        fail_msg("%s was not read to its end", comma);
    assert_memory_equal(&value, &with_comma, sizeof value);
    return value;
}

static void assert_like_strtod(const char *text)
{
    double value = read_whole(text), expected = strtod(text, NULL);
    if (memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("%s gave %.17g, strtod %.17g", text, value, expected);
}

struct draws {
    struct stream *stream;
    uint64_t block;
};

static uint64_t draw(struct draws *draws, uint64_t below)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {23, 5};
    uint64_t value;
    stream_read(draws->stream, &value, sizeof value,
                &(struct stream_position){key, 7, draws->block++});
    return value % below;
}

static void random_digits_round_as_strtod_rounds(void **state)
{
    (void)state;
    struct draws draws = {.stream = stream_create()};
    for (int i = 0; i < 200000; i++) {
        char text[64];
        size_t whole = draw(&draws, 12), fraction = draw(&draws, 12), at = 0;
        text[at++] = "-+123"[draw(&draws, 5)];
        for (size_t j = 0; j <= whole; j++)
            text[at++] = (char)('0' + draw(&draws, 10));
        text[at++] = '.';
        for (size_t j = 0; j < fraction; j++)
            text[at++] = (char)('0' + draw(&draws, 10));
        if (draw(&draws, 2) != 0)
            at += (size_t)sprintf(text + at, "e%d", (int)draw(&draws, 80) - 40);
        text[at] = '\0';
        assert_like_strtod(text);
    }
    stream_destroy(draws.stream);
}

/* One in 4,096 of these is so close to a tie that only the remainder decides. */
static void a_remainder_beyond_64_bits_counts(void **state)
{
    (void)state;
    struct draws draws = {.stream = stream_create()};
    for (int i = 0; i < 100000; i++) {
        char text[64];
        uint64_t digits = UINT64_C(1000000000000000000) + draw(&draws, UINT64_MAX / 3);
        snprintf(text, sizeof text, "%" PRIu64 "e-27", digits);
        assert_like_strtod(text);
    }
    stream_destroy(draws.stream);
}

static void shortest_and_longest_forms_of_a_double_give_it_back(void **state)
{
    (void)state;
    struct draws draws = {.stream = stream_create()};
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = draw(&draws, UINT64_MAX);
        double value;
        char text[64];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        sprintf(text, "%.17g", value);
        assert_true(read_whole(text) == value);
        sprintf(text, "%.25e", value);
        assert_true(read_whole(text) == value);
    }
    stream_destroy(draws.stream);
}

/* Midpoints between two doubles, and numbers one digit away, in each of the three code
 * paths. */
static void ties_go_to_even(void **state)
{
    (void)state;
    assert_true(read_whole("9007199254740993") == 9007199254740992.0);
    assert_true(read_whole("9007199254740995") == 9007199254740996.0);
    assert_true(read_whole("9007199254740993.0") == 9007199254740992.0);
    assert_true(read_whole("9007199254740993.1") == 9007199254740994.0);
    assert_true(read_whole("900719925474099300000000000e-11") == 9007199254740992.0);
    assert_true(read_whole("900719925474099300000000001e-11") == 9007199254740994.0);
    assert_like_strtod("8.5e22");
    assert_like_strtod("123456789012345678e27");
    assert_like_strtod("123456789012345678e-27");
    assert_like_strtod("9999999999999999999e27");
}

static void the_edges_of_the_doubles_are_met(void **state)
{
    (void)state;
    assert_like_strtod("1.7976931348623157e308");
    assert_like_strtod("2.2250738585072011e-308");
    assert_like_strtod("5e-324");
    assert_true(read_whole("2e-324") == 0);
    assert_true(read_whole("1e-999999999999999999999") == 0);
    assert_true(read_whole("0e999999999999999999999") == 0);
    assert_true(signbit(read_whole("-0")));
    assert_true(isinf(read_whole("1e309")));
    assert_true(isinf(read_whole("-1e999999999999999999999")));
    assert_true(read_whole("0.000000000000000000000000000000125e31") == 1.25);
}

static void what_is_no_number_is_not_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "-",   "+",   ".",  "-.",  "e5",
                                        ".e1", "nan", "inf", "x1", "- 1", "--1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = 2.385;
        assert_null(decimal_read(&value, texts[i], texts[i] + strlen(texts[i])));
        assert_true(value == 2.385);
    }
}

static void reading_stops_where_the_number_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t used;
        double value;
    } cases[] = {{"12,5", 2, 12}, {"1e", 1, 1},      {"1e+", 1, 1},
                 {"7.", 2, 7},    {".5x", 2, 0.5},   {"0x10", 1, 0},
                 {"1_000", 1, 1}, {"1.2.3", 3, 1.2}, {"1e5e5", 3, 1e5},
                 {"+4 ", 2, 4},   {"3-1", 1, 3},     {"1E-2d", 4, 0.01}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        const char *text = cases[i].text;
        assert_ptr_equal(decimal_read(&value, text, text + strlen(text)),
                         text + cases[i].used);
        assert_true(value == cases[i].value);
    }
    double value;
    assert_ptr_equal(decimal_read(&value, "1234", &"1234"[2]) != NULL, 1);
    static const char with_comma[] = "1,5.25";
    assert_ptr_equal(decimal_read_comma(&value, with_comma, with_comma + 6),
                     with_comma + 3);
    assert_true(value == 1.5);
}

/* With a leading zero the same number takes the general code path. */
static void one_digit_is_read_as_any_number_whatever_follows(void **state)
{
    (void)state;
    for (int digit = '0'; digit <= '9'; digit++)
        for (int behind = 0; behind < 256; behind++) {
            char text[] = {'0', (char)digit, (char)behind, '3', ' '};
            const char *end = text + sizeof text;
            double alone = NAN, with_zero = NAN;
            const char *rest = decimal_read(&alone, text + 1, end);
            assert_ptr_equal(decimal_read(&with_zero, text, end), rest);
            assert_memory_equal(&alone, &with_zero, sizeof alone);
        }
}

static void a_number_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    char text[DECIMAL_SIZE_MAX + 2];
    double value = 2.385;
    memset(text, '7', sizeof text);
    assert_ptr_equal(decimal_read(&value, text, text + DECIMAL_SIZE_MAX),
                     text + DECIMAL_SIZE_MAX);
    assert_true(isinf(value));
    text[1] = '.';
    assert_ptr_equal(decimal_read(&value, text, text + DECIMAL_SIZE_MAX),
                     text + DECIMAL_SIZE_MAX);
    assert_close(value, 7.7777777777777777, 1e-15);
    assert_null(decimal_read(&value, text, text + DECIMAL_SIZE_MAX + 1));
}

/* Builds its own German locale, because a container image may have none. */
static void the_process_locale_does_not_matter(void **state)
{
    (void)state;
    char folder[] = "/tmp/epsilond-locale-XXXXXX", command[128];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", folder);
    bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    bool german = made && setlocale(LC_ALL, "de_DE.UTF-8") != NULL &&
                  strcmp(localeconv()->decimal_point, ",") == 0;
    double slow = read_whole("1.50000000000000000000000001");
    double fast = read_whole("2.5");
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!german)
        skip_because("no German locale can be made");
    assert_true(slow == 1.5 && fast == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_digits_round_as_strtod_rounds),
        cmocka_unit_test(a_remainder_beyond_64_bits_counts),
        cmocka_unit_test(shortest_and_longest_forms_of_a_double_give_it_back),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(the_edges_of_the_doubles_are_met),
        cmocka_unit_test(what_is_no_number_is_not_read),
        cmocka_unit_test(reading_stops_where_the_number_does),
        cmocka_unit_test(one_digit_is_read_as_any_number_whatever_follows),
        cmocka_unit_test(a_number_beyond_the_limit_is_refused),
        cmocka_unit_test(the_process_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
