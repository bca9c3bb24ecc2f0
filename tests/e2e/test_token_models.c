/* Goal: a network of tokens learns from private texts through HTTP: the bytes of words
 * of three invented languages go in as ids, and a model that names the language of a
 * word comes out. Method: arrays of ids, the preset char_lstm, and clip norms that a
 * histogram of the gradients' norms chooses. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { TOKENS = 12, WORDS = 600, LANGUAGES = 3, HEADER = 128 };

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

/* word (TOKENS + 1) = syllables of the language, ended by a 0. Each language has those of
 * the next one too, but rarely. */
static void invent(char *word, size_t language, uint32_t *state)
{
    static const char *const syllables[LANGUAGES][5] = {
        {"ka", "no", "ri", "mu", "to"},
        {"sch", "ber", "wal", "dt", "en"},
        {"ell", "io", "ucc", "ari", "ove"}};
    size_t count = 2 + draw(state, 3);
    word[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        size_t from = (language + (draw(state, 6) == 0)) % LANGUAGES;
        const char *next = syllables[from][draw(state, 5)];
        if (strlen(word) + strlen(next) <= TOKENS)
            strcat(word, next);
    }
}

/* An array file of numpy's format 1.0. bytes (HEADER + size), filled in behind the
 * header by the caller. */
static void put_header(char *bytes, const char *type, const char *shape)
{
    char text[HEADER];
    int length = snprintf(text, sizeof text,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          type, shape);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = HEADER - 10;
    bytes[9] = 0;
    memset(bytes + 10, ' ', HEADER - 10);
    memcpy(bytes + 10, text, (size_t)length);
    bytes[HEADER - 1] = '\n';
}

/* Sends WORDS words as ids, and their languages. */
static void put_words(struct client *client, const char *id, uint32_t seed)
{
    static char ids[HEADER + WORDS * TOKENS * sizeof(float)], labels[HEADER + WORDS];
    char path[128], shape[32], word[TOKENS + 4];
    snprintf(shape, sizeof shape, "%d, %d", WORDS, TOKENS);
    put_header(ids, "<f4", shape);
    snprintf(shape, sizeof shape, "%d,", WORDS);
    put_header(labels, "|u1", shape);
    for (size_t i = 0; i < WORDS; i++) {
        invent(word, i % LANGUAGES, &seed);
        labels[HEADER + i] = (char)(i % LANGUAGES);
        for (size_t t = 0; t < TOKENS; t++) {
            float value = t < strlen(word) ? (float)(unsigned char)word[t] : -1.0F;
            memcpy(ids + HEADER + (i * TOKENS + t) * sizeof value, &value,
                   sizeof value);
        }
    }
    snprintf(path, sizeof path, "/v1/datasets/%s/files/features", id);
    assert_status(client_put(client, path, ids, sizeof ids), 204);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/labels", id);
    assert_status(client_put(client, path, labels, sizeof labels), 204);
}

static void ready_words(struct client *client, const char *id, const char *scale,
                        const char *privacy, uint32_t seed)
{
    char path[128];
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'%s','format':'npy','task':'classification','classes':%d,"
                      "'features':{'shape':[%d],'scale':%s},'privacy':%s}",
                      id, LANGUAGES, TOKENS, scale, privacy),
        201);
    put_words(client, id, seed);
    snprintf(path, sizeof path, "/v1/datasets/%s:import", id);
    assert_status(client_act(client, "%s", path), 200);
}

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_words(client, "words", "1", SAMPLE_BUDGET(30) SAMPLE_CONFIRMED, 1);
    ready_words(client, "words-test", "1", SAMPLE_PUBLIC, 2);
    ready_words(client, "scaled", "255", SAMPLE_PUBLIC, 3);
    return 0;
}

/* A word as a record of predict: its bytes, and -1 behind them. */
static void write_ids(char *text, const char *word)
{
    for (size_t t = 0; t < TOKENS; t++)
        text += sprintf(text, "%s%d", t > 0 ? "," : "",
                        t < strlen(word) ? (unsigned char)word[t] : -1);
}

static void char_lstm_learns_the_language_of_a_word(void **state)
{
    static const char *const words[] = {"karinomu", "", "a name of 12"};
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job = train(
        client, "{'dataset':'words','evaluation':'words-test','algorithm':{'name':"
                "'dcsgd_p'},'model':{'preset':'char_lstm'},'optimizer':{'name':'adam',"
                "'learning_rate':0.03},'batch_size':60,'epochs':3,"
                "'privacy':{'noise_multiplier':0.7}}");
    assert_true(reply_number(job, "privacy.epsilon_spent") ==
                reply_number(job, "privacy.epsilon_planned"));
    /* by chance a third, with a deviation of 0.02 */
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.5);
    char path[128], ids[TOKENS * 5];
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(job, "model"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write_ids(ids, words[i]);
        const struct reply *answer =
            client_post(client, path, NULL, "{'inputs':[[%s]]}", ids);
        assert_status(answer, 200);
        assert_in_range(reply_number(answer, "outputs.0.class"), 0, LANGUAGES - 1);
    }
}

static void records_that_are_no_ids_are_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *reply = client_create(
        client, "/v1/jobs",
        "{'dataset':'scaled','model':{'preset':'char_lstm'},'algorithm':{'name':"
        "'sgd'},'steps':1,'batch_size':5}");
    assert_problem(reply, 400, "invalid_argument");
    assert_non_null(strstr(reply->body, "/model/preset"));
    assert_non_null(strstr(reply->body, "lists of ids"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(char_lstm_learns_the_language_of_a_word),
        cmocka_unit_test(records_that_are_no_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
