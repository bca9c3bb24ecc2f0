/*
 * limits.h - every limit of the API contract, by name (api.md). If a flag can change a
 * limit, its comment names the flag, and the value here is the default.
 */
#ifndef API_LIMITS_H
#define API_LIMITS_H

#include <stdint.h>

enum {
    LIMIT_WEBHOOKS = 100,
    LIMIT_DELIVERIES = 20,           /* of a webhook, in a list */
    LIMIT_DELIVERIES_WAITING = 1000, /* of a webhook; further events are dropped */
    LIMIT_FETCHES = 64,              /* of files, stored at once */
    LIMIT_URL = 2047,                /* bytes of a URL that the service calls */
    LIMIT_HOST_NAME = 253,           /* bytes, as in DNS */
    LIMIT_DATABASE_NAME = 63,        /* bytes, as in PostgreSQL; users too */
    LIMIT_PASSWORD = 256,            /* bytes, of a database */
    LIMIT_QUERY_S = 3600,            /* seconds that a query of a database may take */
    LIMIT_QUERY_S_DEFAULT = 600,

    LIMIT_CHARGES_OPEN = 1000,   /* at once, of all owners */
    LIMIT_CHARGE_WORKS = 100,    /* mechanisms in a charge's list */
    LIMIT_CHARGE_BLOCKS = 10000, /* blocks of a charge */
    LIMIT_LEASE_S_MIN = 10,      /* duration of a lease after its newest block */
    LIMIT_LEASE_S = 604800,
    LIMIT_LEASE_S_DEFAULT = 3600,

    LIMIT_JSON_DEPTH = 32,
    LIMIT_FAULTS = 32,           /* in one problem body */
    LIMIT_IDEMPOTENCY_KEY = 255, /* printable ASCII characters */
    LIMIT_TEXT = 4096,           /* bytes of any string in a body */
    LIMIT_DISPLAY_NAME = 100,    /* characters */
    LIMIT_TAGS = 16,             /* of one object */
    LIMIT_TAG_KEY = 63,          /* characters, which are bytes */
    LIMIT_TAG_VALUE = 100,       /* characters */
    LIMIT_SEARCH = 100,          /* characters of ?q= */
    LIMIT_TOKENS = 1024,         /* ids of a row of text */
    LIMIT_TEXT_CELL = 1 << 20,   /* bytes of a text in a row to predict */
    LIMIT_CLASSES = 65536,
    LIMIT_FEATURES = 1 << 20,
    LIMIT_COLUMNS = 65536,
    LIMIT_MISSING = 16,         /* texts of missing cells, of a table or a column */
    LIMIT_SHAPE = 4,            /* dimensions of a record of idx or npy */
    LIMIT_LAYERS = 1024,        /* including those in branches */
    LIMIT_NESTING = 8,          /* residuals within residuals */
    LIMIT_HIDDEN = 64,          /* hidden layers of an mlp */
    LIMIT_WIDTH = 1 << 26,      /* outputs of a layer */
    LIMIT_BLOCKS = 64,          /* of an encoder of texts */
    LIMIT_VOCABULARY = 1 << 24, /* tokens; rows of a table of positions too */
    LIMIT_KERNEL = 64,          /* pixels, either way; and copies of a channel */
    LIMIT_STRIDE = 4096,        /* and paddings and dilations */
    LIMIT_STEPS = 10000000,
    LIMIT_ROWS_PER_PERSON = 16, /* in a step; a power of two */
    LIMIT_RANKS = 1024,         /* processes that together take the steps of a job */
    LIMIT_ROWS_KEPT = 16,       /* of a person, by an import; a power of two */
    LIMIT_VIEWS = 16,           /* of a record in a step; a power of two */
    LIMIT_SHIFT = 64,           /* pixels that a view of an image is moved by */
    LIMIT_PERSON_ID = 256,      /* bytes */
    LIMIT_PERSONS = 10000000,   /* of a dataset whose unit is the person */
    LIMIT_PAGE_SIZE = 1000,
    LIMIT_PAGE_SIZE_DEFAULT = 50,
    LIMIT_BUDGET_POINTS = 1000, /* of a budget's history */
    LIMIT_BUDGET_POINTS_DEFAULT = 200,
    LIMIT_PREDICT_ROWS = 10000,
    LIMIT_PREDICT_LINE = 1 << 20,   /* bytes of a line of predict-file */
    LIMIT_PREDICT_FILES = 32,       /* predicted at once */
    LIMIT_PREDICT_VALUES = 1 << 25, /* rows x the larger of features and classes */
    LIMIT_WAIT_S = 60,
    LIMIT_SURVEYS = 64,             /* statistics requests not answered yet */
    LIMIT_STATISTICS = 64,          /* of one request */
    LIMIT_STATISTIC_SLOTS = 16384,  /* numbers that one request may release */
    LIMIT_PROBABILITIES = 100,      /* of one statistic of quantiles */
    LIMIT_FOLLOWERS = 3000,         /* event streams open at once */
    LIMIT_FOLLOWERS_EACH = 64,      /* of one principal, if there are keys */
    LIMIT_SWEEP_RUNS = 100,         /* of one sweep, all reserved before the first */
    LIMIT_SWEEP_SETTINGS = 32,      /* of each run */
    LIMIT_TUNING_RUNS = 10000,      /* in one estimate */
    LIMIT_JOBS_LIKE_THIS = 1000000, /* counted by an estimate */
    LIMIT_HISTORY = 101,            /* evaluations stored of a job */
    LIMIT_JOB_MARKS = 304, /* ticks of its log: of 100 blocks, 101 evaluations, */
    LIMIT_JOB_LOG = 512,   /* 101 releases; and lines of it, including its states */
    LIMIT_UPLOADS_UNFINISHED = 64, /* stored at once: a draft and a descriptor each */
    LIMIT_REASON = 200,            /* bytes of why a grant was approved or rejected */
    LIMIT_GRANT_DAYS = 14,         /* after which an undecided grant lapses */
    LIMIT_EVALUATIONS = 100,       /* listed in a dataset: the newest */
    LIMIT_QUALITY_CLASSES = 100,   /* supported by a holdout's evaluation */
    LIMIT_LOGINS = 1024,           /* browsers logged in at once */
    LIMIT_LOGINS_PER_KEY = 16,     /* of these, by one key */
    LIMIT_POLICY_PROPOSALS = 64,   /* of keys, waiting for a second person */
    LIMIT_GROUPS = 256,            /* in the file of --groups */
    LIMIT_GROUP_NAME = 255,        /* bytes */
    LIMIT_SIGN_ON_STREAM_S = 900,  /* of single sign-on, before it is reopened */
    LIMIT_QUEUE_LENGTH = 1000,     /* --queue-length-max */
    LIMIT_DRAIN_TIMEOUT_S = 120,   /* --drain-timeout */
    LIMIT_REVEAL_DELAY_MS = 4000,  /* --reveal-delay */
    LIMIT_METRICS_DATASETS = 1000, /* --metrics-datasets-max */
    LIMIT_URI = 8192,              /* bytes of path and query */
    LIMIT_KEY_DAYS = 3650,         /* lifetime of a key */
    LIMIT_KEY_DAYS_DEFAULT = 90,
    LIMIT_WRONG_KEYS = 10,            /* from one address in a minute */
    LIMIT_WRONG_KEY_ADDRESSES = 1024, /* watched at once */
    LIMIT_HEAD = 12288,               /* bytes of a request before its body */
    LIMIT_HEAD_PARTS = 64,            /* header fields, cookies and query parameters */
    LIMIT_JSON_BODY = 1 << 20,        /* bytes */
    LIMIT_LOGIN_BODY = 1 << 10,       /* bytes: a key, from an unknown client */
    LIMIT_PREDICT_BODY = 64 << 20     /* bytes */
};

/* LIMIT_FILE_SIZE is in bytes, for a file of weights. The write queue is busy while
 * it checks the file. */
#define LIMIT_FILE_NOTE            200 /* bytes of a note on uploaded weights */
#define LIMIT_FILE_SIZE            (UINT64_C(2) << 30)
#define LIMIT_TOKENIZER_SIZE       (UINT64_C(1) << 24) /* bytes, of a tokenizer's file */
#define LIMIT_NAME_PATTERNS        64     /* patterns of trained or fresh layers */
#define LIMIT_TRAINED_BLOCKS       1024   /* of the last blocks that are trained */
#define LIMIT_ADAPTER_RANK         1024   /* of the matrices of an adapter */
#define LIMIT_TENSOR_NAME          127    /* bytes of one */
#define LIMIT_ANCESTORS            64     /* ancestors of a model's weights */
#define LIMIT_PREDICT_FLOPS        0x1p40 /* a forward pass over all rows */
#define LIMIT_RECORDS              INT32_MAX
#define LIMIT_PARAMETERS           INT32_MAX
#define LIMIT_EPSILON              30.0 /* a budget's and a job's: LEDGER_EPSILON_MAX */
#define LIMIT_EPSILON_UNCONFIRMED  10.0 /* more needs "acknowledge" */
#define LIMIT_DELTA_MIN            0x1p-39 /* exclusive: twice the noise's own delta */
#define LIMIT_HOLDOUT_MIN          0.001   /* the share of a dataset that is held out */
#define LIMIT_HOLDOUT_MAX          0.5
#define LIMIT_LEARNING_RATE        1e6
#define LIMIT_CLASS_WEIGHT         1000.0
#define LIMIT_WEIGHT_DECAY         1000.0
#define LIMIT_HUBER_MIN            1e-12
#define LIMIT_HUBER_MAX            1e12
#define LIMIT_NORM_EPSILON_MIN     1e-12
#define LIMIT_SCALE_MIN            1e-30 /* idx, npy, cifar: a divisor in float32 */
#define LIMIT_SCALE_MAX            1e30
#define LIMIT_NOISE_MULTIPLIER_MIN 0.05
#define LIMIT_NOISE_MULTIPLIER_MAX 1e6
#define LIMIT_COUNT                (INT64_C(1) << 53) /* exclusive: exact in a double */
#define LIMIT_UPLOAD_SIZE          (UINT64_C(16) << 30) /* --upload-size-max, bytes */
#define LIMIT_CACHE_SIZE           (UINT64_C(64) << 30) /* --cache-size, bytes */
#define LIMIT_UNPACKED_SIZE        (UINT64_C(64) << 30) /* --unpacked-size-max, bytes */

#endif
