"""The schemas of openapi.yaml as Python types. Made by tools/make_types.py; not to be edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:  # Python 3.10 has no NotRequired; annotations are never evaluated here.
    from typing_extensions import NotRequired


class File(TypedDict):
    """Public weights, or a file of a tokenizer, that were uploaded."""

    id: FileId
    kind: Literal["weights", "tokenizer"]
    note: str
    sha256: Digest
    size: int
    project: str
    created_by: str
    create_time: Time


class FileList(TypedDict):
    files: list[File]
    next_page_token: str | None


class ImportRequest(TypedDict):
    acknowledge: NotRequired[AcknowledgeDelta]
    postgresql: NotRequired[PostgresqlQuery]


class PostgresqlQuery(TypedDict):
    """A query of a PostgreSQL server. It names one server, and nothing but these members decides
    how the service connects."""

    host: str
    port: NotRequired[int]
    database: str
    user: str
    password: str
    sslmode: NotRequired[Literal["verify-full", "disable"]]
    seconds: NotRequired[int]
    query: str


class Nothing(TypedDict):
    pass


class Target(TypedDict):
    """The target of a regression in formats without columns; it is mapped to [-1, 1], and
    predictions are mapped back."""

    range: Range


class ArrayFeatures(TypedDict):
    shape: list[int]
    scale: float


class CifarFeatures(TypedDict):
    shape: NotRequired[list[int]]
    scale: NotRequired[float]


class LibsvmFeatures(TypedDict):
    count: int
    range: NotRequired[Range]


class ColumnNumeric(TypedDict):
    """A numeric column; its values are clipped to its range and mapped to [-1, 1]."""

    name: CellText
    kind: Literal["numeric"]
    range: Range
    default: NotRequired[float]
    missing: NotRequired[MissingTexts]
    if_missing: NotRequired[IfMissingNumber]


class ColumnBoolean(TypedDict):
    """A column of true, yes, y, t, on, 1 and false, no, n, f, off, 0, in any case: the feature is 1
    or -1. In rows of predict a cell is true, false or null."""

    name: CellText
    kind: Literal["boolean"]
    default: NotRequired[bool]
    missing: NotRequired[MissingTexts]
    if_missing: NotRequired[IfMissingNumber]


class ColumnDate(TypedDict):
    """A column of dates in one format, without time zones. The feature is the day, clipped to the
    range and mapped to [-1, 1]; a time of day is read and dropped. Each part of the year adds one
    feature per value: 4 quarters, 12 months, 7 weekdays from Monday. In rows of predict a cell is a
    text in the same format, or null."""

    name: CellText
    kind: Literal["date"]
    format: str
    range: list[Day]
    parts: NotRequired[list[Literal["quarter", "month", "weekday"]]]
    default: NotRequired[Day]
    missing: NotRequired[MissingTexts]
    if_missing: NotRequired[IfMissingNumber]


class ColumnHashed(TypedDict):
    """A column of many words, such as codes, in a declared number of buckets with one feature each.
    The bucket of a text is the first eight bytes, big-endian, of SHA-256 of the decimal `seed`, a
    colon and the text, modulo `buckets`."""

    name: CellText
    kind: Literal["hashed"]
    buckets: int
    seed: NotRequired[int]
    text_bytes: NotRequired[int]
    default: NotRequired[CellText]
    missing: NotRequired[MissingTexts]
    if_missing: NotRequired[IfMissingWord]


class ColumnText(TypedDict):
    """A column of texts. Each text becomes the ids of its tokens, which a model that begins with a
    table of embeddings reads. It is the only column of its dataset that makes features: others are
    ignored, the label, or the ids of persons. An empty cell is a text without a word."""

    name: CellText
    kind: Literal["text"]
    length: int
    tokenizer: Tokenizer


class TokenizerWordpiece(TypedDict):
    """The tokenizer of BERT and DistilBERT."""

    kind: Literal["wordpiece"]
    vocabulary: FileId
    lower: NotRequired[bool]
    tokens: NotRequired[TokenCount]
    sha256: NotRequired[TokenizerDigests]


class TokenizerBytePair(TypedDict):
    """The tokenizer of RoBERTa and GPT-2."""

    kind: Literal["byte_pair"]
    vocabulary: FileId
    merges: FileId
    prefix_space: NotRequired[bool]
    tokens: NotRequired[TokenCount]
    sha256: NotRequired[TokenizerDigests]


class TokenizerBytes(TypedDict):
    """Each byte of a text is a token. There are no files."""

    kind: Literal["bytes"]
    tokens: NotRequired[TokenCount]


class ColumnCategorical(TypedDict):
    """A categorical column with one feature per value. Any other value is an error, unless `other`
    is true: then it has a category of its own, called other, which always exists. Neither `other`
    nor, if missing cells are a category, `missing` can then be a value."""

    name: CellText
    kind: Literal["categorical"]
    values: Values
    other: NotRequired[bool]
    default: NotRequired[CellText]
    missing: NotRequired[MissingTexts]
    if_missing: NotRequired[IfMissingWord]


class ColumnLabel(TypedDict):
    """The label, with its values or, for a regression, with its range. Its default is of the same
    kind."""

    name: CellText
    kind: Literal["label"]
    values: NotRequired[Values]
    range: NotRequired[Range]
    default: NotRequired[CellText | float]
    missing: NotRequired[MissingTexts]


class ColumnIgnored(TypedDict):
    """A column that is not read."""

    name: CellText
    kind: Literal["ignored"]


class ColumnPrivacyId(TypedDict):
    """Says which person each row belongs to: rows with the same text belong to one person, and the
    guarantee of the dataset is made to persons. The texts are compared while the file is imported,
    and then forgotten. No cell may be empty, longer than 256 bytes, other than UTF-8, or contain an
    invisible character. At most one column, of private data. See `rows_kept`."""

    name: CellText
    kind: Literal["privacy_id"]


class DatasetPartsItem(TypedDict):
    part: PartName
    records: int


class DatasetPrivacyBudget(TypedDict):
    epsilon: float
    delta: float
    relation: NotRequired[Relation]
    order: NotRequired[GridOrder]
    discovery_delta: NotRequired[DiscoveryDelta]


class CaptionPatch(TypedDict):
    display_name: NotRequired[DisplayName]
    tags: NotRequired[dict[str, Any] | None]


class DatasetRequestArrays(TypedDict):
    """The files `features` and `labels`. npy: what numpy.save writes (versions 1.0 to 3.0) of u1,
    i1, i2, i4, i8, f4 or f8, little-endian, in C order. Labels of classes are whole numbers."""

    id: DatasetId
    format: Literal["idx", "npy"]
    task: Task
    classes: NotRequired[Classes]
    features: ArrayFeatures
    target: NotRequired[Target]
    privacy_id: NotRequired[PrivacyIdFile]
    rows_kept: NotRequired[RowsKept]
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    acknowledge: NotRequired[AcknowledgeEpsilon]
    display_name: NotRequired[DisplayName]
    tags: NotRequired[TagsOrNull]


class DatasetRequestCifar(TypedDict):
    """The file `data`: the binary batches, one after the other. The number of classes of cifar100
    selects the label: 100 the fine one, 20 the coarse one."""

    id: DatasetId
    format: Literal["cifar10", "cifar100"]
    task: Literal["classification"]
    classes: Literal[10, 20, 100]
    features: NotRequired[CifarFeatures]
    privacy_id: NotRequired[PrivacyIdFile]
    rows_kept: NotRequired[RowsKept]
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    acknowledge: NotRequired[AcknowledgeEpsilon]
    display_name: NotRequired[DisplayName]
    tags: NotRequired[TagsOrNull]


class DatasetRequestLibsvm(TypedDict):
    id: DatasetId
    format: Literal["libsvm"]
    task: Task
    classes: NotRequired[Classes]
    features: LibsvmFeatures
    labels: NotRequired[Labels]
    target: NotRequired[Target]
    privacy_id: NotRequired[PrivacyIdFile]
    rows_kept: NotRequired[RowsKept]
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    acknowledge: NotRequired[AcknowledgeEpsilon]
    display_name: NotRequired[DisplayName]
    tags: NotRequired[TagsOrNull]


class DatasetRequestCsv(TypedDict):
    id: DatasetId
    format: Literal["csv"]
    task: Task
    classes: NotRequired[Classes]
    header: NotRequired[bool]
    delimiter: NotRequired[Delimiter]
    decimal: NotRequired[DecimalSign]
    missing: NotRequired[MissingTexts]
    columns: Columns
    rows_kept: NotRequired[RowsKept]
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    acknowledge: NotRequired[AcknowledgeEpsilon]
    display_name: NotRequired[DisplayName]
    tags: NotRequired[TagsOrNull]


class DatasetRequestJsonl(TypedDict):
    """The file `data`: JSON Lines in UTF-8, each line one object whose members are the declared
    columns, in any order. A member that is absent or null is a missing cell. A text, a number, true
    and false are cells with that text, as in csv; a number keeps its digits. Members that are not
    declared, members that are there twice, arrays and objects are refused."""

    id: DatasetId
    format: Literal["jsonl"]
    task: Task
    classes: NotRequired[Classes]
    missing: NotRequired[MissingTexts]
    columns: Columns
    rows_kept: NotRequired[RowsKept]
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    acknowledge: NotRequired[AcknowledgeEpsilon]
    display_name: NotRequired[DisplayName]
    tags: NotRequired[TagsOrNull]


class Dataset(TypedDict):
    """The declaration with every default filled in, and the current state."""

    id: DatasetId
    display_name: DisplayName
    tags: Tags
    format: DatasetFormat
    task: Task
    classes: NotRequired[Classes]
    features: NotRequired[ArrayFeatures | LibsvmFeatures]
    labels: NotRequired[Labels]
    target: NotRequired[Target]
    header: NotRequired[bool]
    delimiter: NotRequired[Delimiter]
    decimal: NotRequired[DecimalSign]
    columns: NotRequired[Columns]
    privacy_id: NotRequired[Literal[True]]
    rows_kept: NotRequired[RowsKept]
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    parts: NotRequired[DatasetParts]
    state: DatasetState
    state_reason: DatasetReason | None
    records: int | None
    size: int | None
    unit: Unit
    sha256: Digest | None
    guarantee: Guarantee | None
    epochs: BudgetEpochs | None
    evaluations: list[DatasetId]
    grant: DatasetGrant
    project: str
    created_by: str
    create_time: Time
    import_time: TimeOrNull


class DatasetSummaryBudget(TypedDict):
    """Figures of its budget, as in the budget itself; null for public data, and before the budget
    is granted."""

    epsilon: float
    delta: float
    frozen: bool
    conditional: bool
    epsilon_spent: float | None
    epsilon_held: float | None
    epsilon_remaining: float | None
    fraction_remaining: float
    share: Share
    discoveries: NotRequired[DiscoveryBudget]


class DatasetSummary(TypedDict):
    """A dataset in the view `summary` of a list."""

    id: DatasetId
    display_name: DisplayName
    tags: Tags
    format: DatasetFormat
    task: Task
    privacy: DatasetPrivacy
    holdout: NotRequired[Holdout]
    holdout_seed: NotRequired[HoldoutSeed]
    parts: NotRequired[DatasetParts]
    state: DatasetState
    state_reason: DatasetReason | None
    records: int | None
    size: int | None
    unit: Unit
    budget: DatasetSummaryBudget | None
    grant: DatasetGrant
    project: str
    created_by: str
    create_time: Time
    import_time: TimeOrNull


class ImportFailure(TypedDict):
    """The failure, if the state is FAILED."""

    code: Literal["import_failed", "invalid_argument", "duplicate_content", "disk_full", "internal"]
    detail: str
    file: DatasetFile | None
    line: int | None
    column: int | None
    report: NotRequired[ImportReport]


class Import(TypedDict):
    dataset: DatasetId
    state: DatasetState
    failure: ImportFailure | None


class ImportReportColumnsItemCellsItem(TypedDict):
    line: int
    column: int | None
    cell: str
    reason: str


class ImportReportColumnsItem(TypedDict):
    name: str
    index: int
    faults: int
    cells: list[ImportReportColumnsItemCellsItem]
    words: list[str]
    words_complete: bool


class ImportReportLinesItem(TypedDict):
    line: int
    column: int | None
    cell: NotRequired[str]
    reason: str


class ImportReport(TypedDict):
    """Everything in a csv or jsonl file that is not as declared. It quotes cells, so only the key
    that sent the file reads it, in one answer. The first faults are shown, and all are counted."""

    faults: int
    columns: list[ImportReportColumnsItem]
    faulty_lines: int
    lines: list[ImportReportLinesItem]


class Upload(TypedDict):
    dataset: DatasetId
    file: DatasetFile
    complete: bool
    offset: int | None
    length: int | None


class DatasetPage(TypedDict):
    datasets: list[Dataset | DatasetSummary]
    next_page_token: PageTokenOrNull


class FetchRequest(TypedDict):
    url: WebhookUrl
    sha256: NotRequired[str | None]
    s3: NotRequired[S3Credentials | None]


class S3Credentials(TypedDict):
    region: str
    access_key_id: str
    secret_access_key: str
    session_token: NotRequired[str | None]


class Fetch(TypedDict):
    dataset: DatasetId
    file: DatasetFile
    state: Literal["WAITING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]
    result: Literal[
        "unreachable", "untrusted", "too_slow", "too_large", "redirected", "not_http", "broken",
        "refused", "checksum", "unsized", "disk_full", "not_awaited", "internal", "login_refused",
        "query_refused", "columns", "writes", "query_failed", "not_imported", None
    ]
    status: int | None
    bytes: int
    size: int | None
    create_time: str
    end_time: str | None


class WebhookRequest(TypedDict):
    url: WebhookUrl
    events: list[WebhookEvent]
    dataset: NotRequired[DatasetId | None]


class Webhook(TypedDict):
    id: WebhookId
    url: WebhookUrl
    events: list[WebhookEvent]
    dataset: DatasetId | None
    state: Literal["ACTIVE", "DISABLED"]
    state_reason: Literal["gone", "failing", "no_key", None]
    failing_since: str | None
    create_time: str


class WebhookSecret(TypedDict):
    id: WebhookId
    url: WebhookUrl
    events: list[WebhookEvent]
    dataset: DatasetId | None
    state: Literal["ACTIVE", "DISABLED"]
    state_reason: Literal["gone", "failing", "no_key", None]
    failing_since: str | None
    create_time: str
    secret: str


class WebhookList(TypedDict):
    webhooks: list[Webhook]


class WebhookMessage(TypedDict):
    """It is short on purpose: the client fetches the object itself. A message may come more than
    once, always under the same `webhook-id`, and messages may come in any order."""

    type: WebhookMessageType
    timestamp: str
    id: str
    state: str
    left: NotRequired[float]


class Delivery(TypedDict):
    id: str
    type: WebhookMessageType
    state: Literal["WAITING", "DELIVERED", "FAILED"]
    attempts: int
    result: Literal[
        "answered", "unreachable", "untrusted", "too_slow", "too_large", "redirected", "not_http",
        "broken", None
    ]
    status: int | None
    create_time: str
    attempt_time: str | None
    next_attempt_time: str | None


class DeliveryList(TypedDict):
    deliveries: list[Delivery]


class Guarantee(TypedDict):
    """The guarantee to the people in the data: for any choice of jobs, based on any knowledge, all
    of them together are (epsilon, delta)-differentially private. It covers all epochs of the
    budget. With one epoch it is as granted. After a fork of the ledger it also covers every other
    known timeline in full, and is conditional for ever."""

    epsilon: float
    delta: float
    timelines: NotRequired[int]


class BudgetEpochsItem(TypedDict):
    epoch: int
    epsilon: float
    delta: float
    frozen: bool
    epsilon_spent: NotRequired[float | None]


class BudgetExposure(TypedDict):
    """The privacy loss of all epochs together so far, as an epsilon at delta that holds at every
    moment; never above the guarantee. null if there is one epoch that was never frozen."""

    epsilon_spent: float
    epsilon_held: float
    delta: float


class BudgetPartsItemExposure(TypedDict):
    epsilon_spent: float
    epsilon_held: float
    delta: float


class BudgetPartsItem(TypedDict):
    part: PartName
    exposure: BudgetPartsItemExposure | None
    frozen: bool
    conditional: bool
    epsilon_spent: float | None
    epsilon_held: float | None
    epsilon_remaining: float | None
    fraction_remaining: float
    share: Share
    discoveries: NotRequired[DiscoveryBudget]
    rooms: Rooms
    committed: Vector
    held: Vector


class Budget(TypedDict):
    dataset: DatasetId
    epsilon: float
    delta: float
    guarantee: Guarantee
    epochs: BudgetEpochs
    exposure: BudgetExposure | None
    relation: Relation
    unit: Unit
    epoch: int
    frozen: bool
    conditional: bool
    condition: str | None
    epsilon_spent: float | None
    epsilon_held: float | None
    epsilon_remaining: float | None
    fraction_remaining: float
    share: Share
    discoveries: NotRequired[DiscoveryBudget]
    rooms: Rooms
    orders: Vector
    weights: Vector
    capacity: Vector
    committed: Vector
    held: Vector
    parts: NotRequired[list[BudgetPartsItem]]


class DiscoveryBudget(TypedDict):
    """The delta that the grant sets aside for discoveries; absent if it sets none aside."""

    delta: float
    spent: float
    held: float
    left: float


class Share(TypedDict):
    """The budget in shares of its capacity at one order with weight: the order with the most left;
    if several have equally much left, the first of them in `rooms`. A job fits if it fits at any of
    them, so that order is the last to be used up, and `left` is the `fraction_remaining`. Unlike
    epsilons the three shares add up to 1, except for rounding: `spent` and `held` are rounded up,
    `left` is rounded down."""

    order: float
    spent: float
    held: float
    left: float


class RoomsItem(TypedDict):
    order: float
    weight: float
    spent: float | None
    held: float | None


class SampledGaussianWork(TypedDict):
    """Gaussian noise on sums over Poisson batches."""

    kind: Literal["sampled_gaussian"]
    neighbour: Neighbour
    noise_multiplier: float
    steps: int
    sampler: Literal["poisson"]
    sampling_rate: float


class GaussianWork(TypedDict):
    """Gaussian noise on sums over all records. If batches are shuffled or fixed, a step is one use
    of each record."""

    kind: Literal["gaussian"]
    neighbour: Neighbour
    noise_multiplier: float
    steps: int
    sampler: NotRequired[Literal["none", "shuffled", "fixed_batches"]]


class FixedSubsetWork(TypedDict):
    """Gaussian noise on sums over subsets of a fixed size. If a record is absent, another takes its
    place, so the distance is twice the sensitivity under every relation."""

    kind: Literal["fixed_subset"]
    neighbour: Neighbour
    noise_multiplier: float
    steps: int
    sampler: Literal["without_replacement"]
    sampling_rate: float


class LaplaceWork(TypedDict):
    """Laplace noise on sums over all records."""

    kind: Literal["laplace"]
    neighbour: Neighbour
    noise_scale: float
    steps: int


class ZcdpWork(TypedDict):
    """Steps each of which is known to be rho-zCDP."""

    kind: Literal["zcdp"]
    neighbour: Neighbour
    rho: float
    steps: int


class PureWork(TypedDict):
    """Steps each of which is known to have this epsilon at delta 0; charged as randomised
    response."""

    kind: Literal["pure"]
    neighbour: Neighbour
    epsilon: float
    steps: int


class ChargeRequest(TypedDict):
    dataset: DatasetId
    engine: str
    mechanism: ChargedWork | list[ChargedWork]
    unit: Unit
    parts: NotRequired[list[PartName]]
    records: NotRequired[int]
    acknowledge: NotRequired[AcknowledgeDelta]
    lease_s: NotRequired[int]
    block_steps: NotRequired[int]


class Charge(TypedDict):
    id: ChargeId
    state: ChargeState
    project: str
    created_by: str
    dataset: DatasetId
    engine: str
    mechanism: list[ChargedWork]
    unit: Unit
    parts: list[PartName] | None
    records: int | None
    steps: int
    block_steps: int
    blocks: int
    lease_s: int
    blocks_granted: int
    authorised_steps: int
    epsilon_planned: float
    delta: float
    order: float | None
    epsilon_spent: float
    ledger_seq: int | None
    condition: str
    create_time: Time
    lease_end_time: Time
    end_time: TimeOrNull


class ChargePage(TypedDict):
    charges: list[Charge]
    next_page_token: PageTokenOrNull


class BlockRequest(TypedDict):
    block: int
    process: str


class Block(TypedDict):
    charge: ChargeId
    block: int
    blocks: int
    first_step: int
    last_step: int
    steps: int
    lease_end_time: Time


class ChargeEstimate(TypedDict):
    fits: Fits
    dataset: DatasetId
    engine: str
    mechanism: list[ChargedWork]
    unit: Unit
    parts: list[PartName] | None
    records: int | None
    steps: int
    block_steps: int
    blocks: int
    lease_s: int
    epsilon_planned: float
    delta: float
    order: float | None
    priced_as: dict[str, Any]
    largest_epsilon: float
    most_steps: int | None
    share: ShareAsked
    rooms: RoomsAsked
    epsilon_after: float
    exposure_after: Guarantee | None
    jobs_like_this: int
    condition: str


class LedgerEntry(TypedDict):
    seq: int
    kind: Literal["GRANT", "RESERVE", "COMMIT"]
    dataset: DatasetId
    epoch: int
    job: HolderIdOrNull
    external: str | None
    grid: Literal["g1"]
    curve: EntryVector
    released: EntryVector | None
    meta: dict[str, Any]
    actor: str
    time: Time
    prev: Digest
    hash: Digest


class LedgerSummary(TypedDict):
    """An entry as people read it."""

    seq: int
    kind: Literal["GRANT", "RESERVE", "COMMIT"]
    dataset: DatasetId
    epoch: int
    job: HolderIdOrNull
    external: str | None
    evaluation: NotRequired[bool]
    parts: NotRequired[list[PartName]]
    epsilon: float | None
    replaces: NotRequired[int]
    actor: str
    time: Time


class BudgetHistoryPointsItemExposure(TypedDict):
    """The privacy loss of all epochs together by then, as in the budget; null in the first
    epoch."""

    epsilon_spent: float
    delta: float


class BudgetHistoryPointsItem(TypedDict):
    seq: int
    time: Time
    kind: Literal["GRANT", "RESERVE", "COMMIT", "SEAL"]
    job: HolderIdOrNull
    evaluation: NotRequired[bool]
    epoch: int
    epsilon_spent: float | None
    exposure: BudgetHistoryPointsItemExposure | None
    share: Share


class BudgetHistory(TypedDict):
    dataset: DatasetId
    entries: int
    points: list[BudgetHistoryPointsItem]


class LedgerPage(TypedDict):
    entries: list[LedgerEntry | LedgerSummary]
    next_page_token: PageTokenOrNull
    archived_to: NotRequired[int]


class LedgerHead(TypedDict):
    seq: int
    hash: Digest


class RegrantRequest(TypedDict):
    epsilon: float
    delta: float
    order: NotRequired[GridOrder]
    discovery_delta: NotRequired[DiscoveryDelta]
    acknowledge: NotRequired[Acknowledge]


class GrantWords(TypedDict):
    """Only for a discovery. What is approved, and the run that has used the approval."""

    column: str
    threshold: float
    deviation: float
    discovery_delta: float
    statistics: StatisticsId | None


class GrantReplaces(TypedDict):
    epsilon: float
    delta: float
    discovery_delta: NotRequired[float]


class Grant(TypedDict):
    id: GrantId
    dataset: DatasetId
    kind: Literal["declaration", "regrant", "words"]
    words: NotRequired[GrantWords]
    privacy: DatasetPrivacy
    replaces: GrantReplaces | None
    state: GrantState
    proposed_by: str
    decided_by: str | None
    reason: str | None
    propose_time: Time
    lapse_time: Time
    decide_time: TimeOrNull
    acknowledge: Acknowledge


class GrantPage(TypedDict):
    grants: list[Grant]
    next_page_token: PageTokenOrNull


class DatasetGrantId(TypedDict):
    id: GrantId
    state: GrantState
    proposed_by: str
    decided_by: str | None
    reason: str | None
    propose_time: Time
    lapse_time: Time
    decide_time: TimeOrNull


class Decision(TypedDict):
    reason: str


class GrantApproval(TypedDict):
    reason: str
    acknowledge: NotRequired[Acknowledge]


class PolicyApproval(TypedDict):
    policy: KeyPolicy | None
    reason: str


class AuditRow(TypedDict):
    seq: int
    time: Time
    actor: str | None
    key: str | None
    project: str | None
    via: str | None
    ip: str | None
    action: str
    object: str | None
    result: Literal["ok", "denied", "error"]
    code: str | None
    request_id: str | None
    detail: dict[str, Any]
    prev: Digest
    hash: Digest


class AuditPage(TypedDict):
    acts: list[AuditRow]
    next_page_token: PageTokenOrNull


class LossHuberHuber(TypedDict):
    delta: float


class LossHuber(TypedDict):
    huber: LossHuberHuber


class LayerDense(TypedDict):
    type: Literal["dense"]
    out: int
    bias: NotRequired[bool]


class LayerConv2d(TypedDict):
    """A convolution of an image. Dilation spreads the kernel's taps apart."""

    type: Literal["conv2d"]
    out: int
    kernel: Kernel
    stride: NotRequired[int]
    padding: NotRequired[int]
    dilation: NotRequired[int]
    bias: NotRequired[bool]


class LayerMaxPool2d(TypedDict):
    """The default of its stride is the kernel's height; padding is at most half the kernel."""

    type: Literal["max_pool2d"]
    kernel: Kernel
    stride: NotRequired[int]
    padding: NotRequired[int]


class LayerAvgPool2d(TypedDict):
    type: Literal["avg_pool2d"]
    kernel: Kernel
    stride: NotRequired[int]


class LayerPlain(TypedDict):
    """If its input is a vector, or was flattened, a dense layer takes the whole record; for any
    other image it takes each pixel."""

    type: Literal[
        "global_avg_pool", "flatten", "relu", "tanh", "sigmoid", "softplus", "standardise"
    ]


class LayerGelu(TypedDict):
    type: Literal["gelu"]
    approximate: NotRequired[Literal["none", "tanh"]]


class LayerGroupNorm(TypedDict):
    """Normalises a record over groups of its own channels, then scales each channel by the layer's
    weights. Its input is images, or vectors as images of one pixel."""

    type: Literal["group_norm"]
    groups: int
    eps: NotRequired[float]


class LayerLayerNorm(TypedDict):
    """Normalises each position of a record separately over its channels, the last axis, then scales
    and shifts each channel by the layer's weights. Its input is images, or vectors as images of one
    pixel."""

    type: Literal["layer_norm"]
    eps: NotRequired[float]


class LayerDropout(TypedDict):
    """In training each value is dropped with this probability, and the others are divided by 1 -
    rate. Masks are secret and drawn again for every record and step."""

    type: Literal["dropout"]
    rate: float


class LayerResidual(TypedDict):
    """The sum of two branches of the same input, whose outputs have the same shape; an empty
    shortcut is the input itself. Nested at most 8 deep."""

    type: Literal["residual"]
    body: list[Layer]
    shortcut: NotRequired[list[Layer]]


class LayerScatter(TypedDict):
    """The scattering transform of two scales and eight directions: fixed wavelets, their moduli and
    a low pass, 81 maps of each channel, a quarter as high and wide. It has no weights and comes
    before all layers with weights, so its output for a record is computed once for a whole run. The
    sides of the image are multiples of 4 in [8, 256]. A group norm after it normalises each record
    separately."""

    type: Literal["scatter"]
    centre: NotRequired[float]


class LayerReplicate(TypedDict):
    """Repeats the record's one channel this many times; only the first layer, before a conv2d."""

    type: Literal["replicate"]
    channels: int


class LayerCrop(TypedDict):
    """The middle of the record's image, this many pixels high and wide; only the first layer."""

    type: Literal["crop"]
    size: int


class LayerEmbedColumns(TypedDict):
    """Embeds columns of words (kinds categorical and hashed): the features of each column become
    `out` trained numbers, a row of a table that has a row for each word. All other features stay as
    they are. `columns` names them; if it is left out, they are all columns of words, and the answer
    names them. It is the first layer of a model of a dataset with columns. A dense layer after it
    has fewer parameters than one that reads the words themselves."""

    type: Literal["embed_columns"]
    columns: NotRequired[list[str]]
    out: int


class LayerEmbedding(TypedDict):
    """Looks up each id of a record in a table of `vocabulary` rows of `out` numbers. It is the
    first layer of a model of texts: the record is a vector of at most 1024 ids, with -1 behind the
    last one. An id of `vocabulary` or more is read as a row of zeros: no import checks it."""

    type: Literal["embedding"]
    vocabulary: int
    out: int


class LayerPosition(TypedDict):
    """Adds row t + `offset` of a table of `positions` rows to position t."""

    type: Literal["position"]
    positions: int
    offset: NotRequired[int]


class LayerTokenType(TypedDict):
    """Adds a row of a table to each position: the first row up to the first id `separator` and at
    it, the second one behind it."""

    type: Literal["token_type"]
    types: int
    separator: int


class LayerAttention(TypedDict):
    """Attention of `heads` heads: each position reads the tokens of its own record, with weights
    from the softmax of query times key. `query`, `key` and `value` are lists of layers that read
    the same positions and end in the same width, which `heads` divides."""

    type: Literal["attention"]
    heads: int
    query: list[Layer]
    key: list[Layer]
    value: list[Layer]


class LayerLstm(TypedDict):
    """Reads the tokens of a record one after the other, as PyTorch's nn.LSTM of one layer with
    `hidden` units does, and gives its output at each position. Behind the last token it gives
    zeros. Two layers are two entries."""

    type: Literal["lstm"]
    hidden: int


class LayerTake(TypedDict):
    """Makes one vector of the positions of a record: the first one, that of its last token, or the
    mean of its tokens. A record without tokens has zeros for the last two."""

    type: Literal["take"]
    position: Literal["first", "last", "mean"]


class LayerStepFunctions(TypedDict):
    """The sum of a step function of each column, of 256 steps for a number in [-1, 1], and of one
    step for each word. It is the first layer. The columns are those of the preset histograms; in a
    list of layers, each feature is a column of numbers."""

    type: Literal["step_functions"]
    out: int


class Input(TypedDict):
    """The shape in which a record is read as an image, channel by channel: [height, width,
    channels], or [features] for an image of one pixel. The default is the dataset's own shape,
    which is [channels, height, width] or [height, width]."""

    shape: list[int]


class ModelPreset(TypedDict):
    """linear: one dense layer. mlp: `hidden` layers with `activation` between them. cnn_mnist, on
    images of 28 x 28: conv2d 16 of 8 x 8, stride 2, padding 3; relu; max_pool2d 2, stride 1; conv2d
    32 of 4 x 4, stride 2; relu; max_pool2d 2, stride 1; flatten; dense 32; relu; dense. An image of
    one channel is read as three equal ones: 28,058 parameters. cnn_cifar, on the middle 24 x 24
    pixels of an image: twice conv2d 64 of 5 x 5, padding 2, relu, max_pool2d 2; flatten; twice
    dense 384, relu; dense. With three channels and ten classes it has 1,144,138 parameters, all of
    them trained. resnet18_gn and resnet34_gn: residual networks of 18 and 34 layers on images of
    any size, with group norms; otherwise they equal those of torchvision and use its names. With
    three channels and ten classes they have 11,181,642 and 21,289,802 parameters. scatter, a linear
    model of the scattering transform of images of 8 to 256 pixels a side, which four divides:
    scatter, with the centre .45 for three channels and 0 otherwise; group_norm 27; flatten; dense.
    It trains its head, the last layer, unless `trainable` says otherwise. bert, roberta and
    distilbert: the public encoders of texts, with the classifier of their files on the first token,
    or a dense layer on the mean of the tokens (`take`). The defaults of the sizes are those of
    bert-base-uncased, roberta-base and distilbert-base-uncased. The records are texts (a column of
    kind text, whose tokenizer has `vocabulary` tokens), or lists of ids: of the shape [tokens] and
    the scale 1, with -1 behind the last id. The tensors have the names of the public files. These
    presets train their head, the last layer, unless `trainable` says otherwise; a file that has no
    such layer needs it in `fresh`. char_lstm, for short texts as their bytes: embedding of 256 ids
    to 64; lstm 128, twice; take last; dense. The records are texts, by the tokenizer of kind bytes,
    or lists of ids as above. histograms, for the algorithm boosted_histograms: one layer
    step_functions, with a step function for each column of the table and for each pair. The dataset
    must declare columns."""

    preset: Literal[
        "linear", "mlp", "cnn_mnist", "cnn_cifar", "resnet18_gn", "resnet34_gn", "scatter", "bert",
        "roberta", "distilbert", "char_lstm", "histograms"
    ]
    hidden: NotRequired[list[int]]
    activation: NotRequired[Literal["relu", "tanh", "sigmoid", "softplus", "gelu", "gelu_tanh"]]
    bias: NotRequired[bool]
    embed: NotRequired[int]
    groups: NotRequired[int]
    input: NotRequired[Input]
    blocks: NotRequired[int]
    width: NotRequired[int]
    heads: NotRequired[int]
    intermediate: NotRequired[int]
    vocabulary: NotRequired[int]
    positions: NotRequired[int]
    take: NotRequired[Literal["first", "mean"]]
    separator: NotRequired[int]
    columns: NotRequired[list[int]]
    pairs: NotRequired[list[list[int | CellText]]]
    loss: NotRequired[Loss]
    init_seed: NotRequired[Seed]
    weights: NotRequired[Weights]
    trainable: NotRequired[Trainable]
    fresh: NotRequired[Fresh]


class ModelSpecLayers(TypedDict):
    input: NotRequired[Input]
    layers: list[Layer]
    loss: NotRequired[Loss]
    init_seed: NotRequired[Seed]
    weights: NotRequired[Weights]
    trainable: NotRequired[Trainable]
    fresh: NotRequired[Fresh]


class TrainableLast(TypedDict):
    last: int


class TrainableLora(TypedDict):
    lora: Lora


class Lora(TypedDict):
    """Adapters of dense layers (LoRA): z = W x + c + (alpha / rank) B A x. W and c are frozen. A
    (rank, in) begins as the weight of a dense layer, from `init_seed`; B (out, rank) begins with
    zeros, so the model begins with the outputs of its body. The last layer of the model is the
    head: it is trained whole and has no adapter, whatever matches it; all other layers are frozen.
    `weights` is required. If it is a model with adapters of these layers and this rank, they go on.
    The tensors of the adapter of a layer `0` are `0.lora_A.weight` and `0.lora_B.weight`; the
    file's `arch` has these members. value_clip refuses adapters."""

    rank: int
    alpha: float
    targets: list[str]


class TrainableOnly(TypedDict):
    only: NamePatterns


TrainableExcept = TypedDict(
    "TrainableExcept",
    {
        'except': 'NamePatterns',
    },
)


JobSchema = TypedDict(
    "JobSchema",
    {
        '$schema': 'Literal["https://json-schema.org/draft/2020-12/schema"]',
        '$defs': 'dict[str, Any]',
        'allOf': 'list[dict[str, Any]]',
        'not': 'dict[str, Any]',
        'type': 'Literal["object"]',
        'properties': 'dict[str, Any]',
        'required': 'list[str]',
        'additionalProperties': 'bool',
    },
)


class AlgorithmDpsgd(TypedDict):
    name: Literal["dpsgd"]
    clipping: NotRequired[Literal["flat", "automatic", "per_layer"]]
    clip_norm: NotRequired[float]
    gamma: NotRequired[float]


class AlgorithmAdp(TypedDict):
    """The noise of a step grows as the learning rate falls; the job's noise multiplier is that of
    the first step, at least 0.5. Each step is charged at its own noise, in at most 64 levels."""

    name: Literal["adp"]
    schedule: (
        NotRequired[Literal["constant", "inverse_sqrt", "sqrt_decay", "inverse", "adagrad_norm"]]
    )
    noise_power: NotRequired[float]
    clip_norm: NotRequired[float]
    offset: NotRequired[float]
    slope: NotRequired[float]
    initial: NotRequired[float]
    final: NotRequired[float]
    start_square: NotRequired[float]
    envelope: NotRequired[float]
    noise_follows: NotRequired[Literal["envelope", "divisor"]]
    noise_start: NotRequired[float]
    filter_order: NotRequired[float]
    increment_min: NotRequired[float]
    gain: NotRequired[float]
    norm_noise: NotRequired[float]


class AlgorithmDcsgdP(TypedDict):
    """The clip norm of a step is a percentile of the gradient norms of the step before."""

    name: Literal["dcsgd_p"]
    clip_norm: NotRequired[float]
    unclipped_fraction: NotRequired[float]
    bins: NotRequired[int]
    histogram_noise: NotRequired[float]
    histogram_range: NotRequired[float]


class AlgorithmDcsgdE(TypedDict):
    """The clip norm of a step is the one with the least expected squared error in the step
    before."""

    name: Literal["dcsgd_e"]
    clip_norm: NotRequired[float]
    bins: NotRequired[int]
    histogram_noise: NotRequired[float]
    histogram_range: NotRequired[float]


class AlgorithmQuantileClip(TypedDict):
    """The clip norm of a step follows a quantile of the gradient norms of the steps before."""

    name: Literal["quantile_clip"]
    clip_norm: NotRequired[float]
    unclipped_fraction: NotRequired[float]
    clip_rate: NotRequired[float]
    count_noise: NotRequired[float]


class AlgorithmValueClip(TypedDict):
    """A record's weight comes from a bound of its gradient norm that uses its own loss. For dense
    models with relu, tanh, sigmoid and softplus. With several layers, paper and tight are only for
    layers without biases, with relu and tanh and with softmax_cross_entropy."""

    name: Literal["value_clip"]
    clip_norm: NotRequired[float]
    bound: NotRequired[Literal["paper", "tight", "forward"]]


class AlgorithmDicesgd(TypedDict):
    """The part of the gradients that clipping cuts off is kept in secret and added again later.
    Experimental: dpsgd usually needs less noise."""

    name: Literal["dicesgd"]
    accountant: NotRequired[Literal["m2r", "m2", "m1", "m3", "paper_claim"]]
    batches: NotRequired[Literal["partition", "poisson"]]
    clip_norm: NotRequired[float]
    pre_clip_norm: NotRequired[float]
    error_clip_norm: NotRequired[float]


class AlgorithmDpgd(TypedDict):
    """Every step takes every record: batch_size is n, and a job that gives neither epochs nor steps
    takes 200 steps."""

    name: Literal["dpgd"]
    clip_norm: NotRequired[float]


class AlgorithmBoostedHistograms(TypedDict):
    """An explainable boosting machine (Nori et al. 2021; docs/papers/boosted_histograms.md). Its
    model is the preset histograms, and batch_size is n. A step counts the records in the cells of a
    column or a pair, once for each; all further steps are rounds, in cyclic order. The optimizer is
    sgd without momentum or weight decay, and the default rate is 0.3."""

    name: Literal["boosted_histograms"]
    bins: NotRequired[int]
    pair_bins: NotRequired[int]
    bin_kind: NotRequired[Literal["quantiles", "equal_width"]]
    residual_clip: NotRequired[float]
    shrinkage: NotRequired[float]


class AlgorithmDiff2Gd(TypedDict):
    """Every restart_interval-th round has a noisy gradient, the rounds between have noisy gradient
    differences, with noise in proportion to the distance moved. Every step takes every record:
    batch_size is n. The optimizer is sgd at a constant learning rate, without momentum; all layers
    of the model must have rules for differences."""

    name: Literal["diff2_gd"]
    clip_norm: NotRequired[float]
    difference_clip: NotRequired[float]
    restart_interval: NotRequired[int]
    split: NotRequired[float]
    clients: NotRequired[int]


class AlgorithmDiff2BvrLSgd(TypedDict):
    """diff2_gd with local steps: a round is one step over all records and local_steps - 1 steps
    over small subsets of one client's records. The job's steps count both. Charged as fixed-size
    subsets and Gaussians."""

    name: Literal["diff2_bvr_l_sgd"]
    clip_norm: NotRequired[float]
    difference_clip: NotRequired[float]
    local_clip: NotRequired[float]
    restart_interval: NotRequired[int]
    local_steps: NotRequired[int]
    local_batch: NotRequired[int]
    restart_split: NotRequired[float]
    difference_split: NotRequired[float]
    clients: NotRequired[int]


class AlgorithmSgd(TypedDict):
    """Not private; only on public data."""

    name: Literal["sgd"]


class LearningRateLine(TypedDict):
    initial: float
    final: float


class OptimizerSgd(TypedDict):
    name: Literal["sgd"]
    learning_rate: NotRequired[LearningRate]
    momentum: NotRequired[float]
    schedule: NotRequired[RateSchedule]
    warmup: NotRequired[Warmup]
    weight_decay: NotRequired[WeightDecay]


class OptimizerAdam(TypedDict):
    name: Literal["adam"]
    learning_rate: NotRequired[LearningRate]
    beta1: NotRequired[float]
    beta2: NotRequired[float]
    epsilon: NotRequired[float]
    schedule: NotRequired[RateSchedule]
    warmup: NotRequired[Warmup]
    weight_decay: NotRequired[WeightDecay]


class OptimizerAdamBc(TypedDict):
    """DP-AdamBC: as adam, but the declared variance of the noise is subtracted from the mean of the
    squares, down to `floor` times that variance. The variance is public, so this costs no
    privacy."""

    name: Literal["adam_bc"]
    learning_rate: NotRequired[LearningRate]
    beta1: NotRequired[float]
    beta2: NotRequired[float]
    epsilon: NotRequired[float]
    floor: NotRequired[float]
    schedule: NotRequired[RateSchedule]
    warmup: NotRequired[Warmup]
    weight_decay: NotRequired[WeightDecay]


class AveragingNone(TypedDict):
    kind: Literal["none"]


class AveragingTail(TypedDict):
    kind: Literal["tail"]
    share: NotRequired[float]


class AveragingEma(TypedDict):
    kind: Literal["ema"]
    decay: NotRequired[float]


class Augmentation(TypedDict):
    """For images, which are records of a shape of [height, width] or [channels, height, width]: the
    number of views of each drawn image in a step. With flip, a view is mirrored left to right with
    probability one half. A view is also shifted by up to shift pixels along each side, and filled
    with zeros. Each step draws new views. The mean of the gradients of an image's views is clipped
    once, so the views do not affect the price, but a step takes that many times as long.
    rows_per_person times views is at most 16. Refused by sgd, value_clip, diff2_gd and
    diff2_bvr_l_sgd, and with cached features."""

    views: NotRequired[Literal[1, 2, 4, 8, 16]]
    flip: NotRequired[bool]
    shift: NotRequired[int]


class JobPrivacy(TypedDict):
    """Exactly one of the first three members. Required unless the algorithm is not private."""

    epsilon: NotRequired[float]
    noise_multiplier: NotRequired[float]
    budget_fraction: NotRequired[float]
    delta: NotRequired[float]
    accountant: NotRequired[Literal["rdp", "pld"]]


class ScalingRequest(TypedDict):
    """Maps numeric columns from ranges that were released, in place of the declared ones: from the
    quantile of the lowest to that of the highest probability that the statistics have for a column.
    The statistics are of the same dataset, and have answers. They are not charged again."""

    statistics: StatisticsId


class ScalingRangesItem(TypedDict):
    column: str
    range: list[float]


class Scaling(TypedDict):
    """The ranges from which the model maps numeric columns, and the statistics that they are
    from."""

    statistics: StatisticsId
    reserve: LedgerHead
    ranges: list[ScalingRangesItem]


class StandardiseTerms(TypedDict):
    """The price and the clip length of the means and deviations."""

    epsilon: NotRequired[float]
    clip_norm: NotRequired[float]


class Standardise(TypedDict):
    """The means and deviations that the model begins with, and the statistics that released
    them."""

    epsilon: NotRequired[float]
    clip_norm: NotRequired[float]
    statistics: StatisticsId
    reserve: LedgerHead


class JobRequest(TypedDict):
    dataset: DatasetId
    evaluation: NotRequired[DatasetId | HoldoutEvaluation]
    model: ModelSpec
    algorithm: Algorithm
    optimizer: NotRequired[Optimizer]
    averaging: NotRequired[Averaging]
    class_weights: NotRequired[ClassWeights]
    features: NotRequired[Features]
    scaling: NotRequired[ScalingRequest]
    standardise: NotRequired[StandardiseRequest]
    batch_size: NotRequired[BatchSize]
    ranks: NotRequired[Ranks]
    rows_per_person: NotRequired[RowsPerPerson]
    augmentation: NotRequired[Augmentation]
    epochs: NotRequired[Epochs]
    steps: NotRequired[Steps]
    privacy: NotRequired[JobPrivacy]
    display_name: NotRequired[DisplayName]
    tags: NotRequired[TagsOrNull]


class Axis(TypedDict):
    column: StatisticsColumn
    bins: NotRequired[Bins]


class StatisticHistogram(TypedDict):
    kind: Literal["histogram"]
    column: StatisticsColumn
    bins: NotRequired[Bins]


class StatisticTable(TypedDict):
    kind: Literal["table"]
    columns: list[Axis]


class StatisticNumber(TypedDict):
    kind: Literal["sum", "mean", "variance"]
    column: StatisticsColumn
    range: NotRequired[list[float]]


class StatisticQuantiles(TypedDict):
    kind: Literal["quantiles"]
    column: StatisticsColumn
    bins: NotRequired[Bins]
    probabilities: list[float]


class StatisticMoments(TypedDict):
    kind: Literal["moments"]
    clip_norm: NotRequired[float]


class StatisticMomentsMade(TypedDict):
    kind: Literal["moments"]
    clip_norm: NotRequired[float]
    prefix: NotRequired[str]


class StatisticWords(TypedDict):
    kind: Literal["words"]
    column: StatisticsColumn


class StatisticsPrivacy(TypedDict):
    """Exactly one of the first two members."""

    epsilon: NotRequired[float]
    noise_multiplier: NotRequired[float]
    delta: NotRequired[float]
    discovery_delta: NotRequired[float]


class StatisticsRequest(TypedDict):
    dataset: DatasetId
    statistics: list[Statistic]
    privacy: StatisticsPrivacy


Bin = TypedDict(
    "Bin",
    {
        'value': 'NotRequired[str]',
        'from': 'NotRequired[float]',
        'to': 'NotRequired[float]',
        'count': 'NotRequired[float]',
        'interval': 'NotRequired[Interval]',
    },
)


class AnswerHistogram(TypedDict):
    kind: Literal["histogram"]
    column: str
    margin: Margin
    bins: list[Bin]


class AnswerAxis(TypedDict):
    column: str
    bins: list[Bin]


class AnswerTable(TypedDict):
    kind: Literal["table"]
    columns: list[AnswerAxis]
    margin: Margin
    counts: list[list[float]]


class AnswerNumber(TypedDict):
    kind: Literal["sum", "mean", "variance"]
    column: str
    range: Interval
    value: float
    interval: Interval


class AnswerQuantilesQuantilesItem(TypedDict):
    probability: float
    value: float
    interval: Interval


class AnswerQuantiles(TypedDict):
    kind: Literal["quantiles"]
    column: str
    range: Interval
    bins: int
    quantiles: list[AnswerQuantilesQuantilesItem]


class AnswerMomentsFeaturesItem(TypedDict):
    column: NotRequired[str]
    mean: float
    interval: Interval
    deviation: float


class AnswerMoments(TypedDict):
    kind: Literal["moments"]
    clip_norm: float
    features: list[AnswerMomentsFeaturesItem]


class AnswerWordsWordsItem(TypedDict):
    word: str
    count: float


class AnswerWords(TypedDict):
    kind: Literal["words"]
    column: str
    threshold: float
    words: list[AnswerWordsWordsItem]


class StatisticsGuaranteeReserve(TypedDict):
    """The entry that reserved the cost."""

    seq: int
    hash: Digest


class StatisticsGuarantee(TypedDict):
    """The charge for all statistics of the request together, before and after the run."""

    relation: Relation
    unit: Unit
    epsilon: float
    delta: float
    accountant: Literal["rdp", "gaussian"]
    order: float | None
    mechanism: dict[str, Any]
    noise_multiplier: float
    discovery_delta: NotRequired[float]
    threshold: NotRequired[float]
    distance: float
    deviation: float
    reserve: StatisticsGuaranteeReserve
    version: str


class Statistics(TypedDict):
    id: StatisticsId
    state: Literal["RUNNING", "SUCCEEDED", "FAILED"]
    state_reason: Literal[
        "worker_lost", "shutdown", "no_memory", "dataset_corrupt", "cache_full", "internal", None
    ]
    dataset: DatasetId
    statistics: list[StatisticMade]
    guarantee: StatisticsGuarantee
    answers: list[Answer] | None
    project: str
    created_by: str
    create_time: Time
    end_time: TimeOrNull


class StatisticsPage(TypedDict):
    statistics: list[Statistics]
    next_page_token: PageTokenOrNull


class StatisticsEstimateStatisticsItem(TypedDict):
    kind: StatisticKind
    slots: int
    margin: float | None


class StatisticsEstimate(TypedDict):
    fits: Fits
    relation: Relation
    unit: Unit
    epsilon: float
    delta: float
    accountant: Literal["rdp", "gaussian"]
    order: float | None
    mechanism: dict[str, Any]
    noise_multiplier: float
    discovery_delta: NotRequired[float]
    threshold: NotRequired[float]
    distance: float
    deviation: float
    statistics: list[StatisticsEstimateStatisticsItem]
    epsilon_after: float | None
    surveys_like_this: int


class HoldoutEvaluation(TypedDict):
    holdout: Literal[True]
    epsilon: float
    error_clip: NotRequired[float]


class EvaluationRequest(TypedDict):
    evaluation: DatasetId | HoldoutEvaluation
    dataset: NotRequired[DatasetId]


class EvaluationEstimate(TypedDict):
    dataset: DatasetId
    measurement: EstimateMeasurement | None


class EstimateMeasurementShare(TypedDict):
    order: float
    spent: float
    held: float
    left: float
    asked: float | None
    fits: bool


class EstimateMeasurement(TypedDict):
    """The charge that one look at a holdout would make to the holdout's budget."""

    fits: Fits
    records: int
    epsilon: float
    noise_multiplier: float
    deviation: float
    share: EstimateMeasurementShare
    epsilon_after: float | None
    jobs_like_this: int


class EvaluationGuarantee(TypedDict):
    """The charge for one look at a holdout, before and after the run."""

    part: PartName
    records: int
    relation: Relation
    unit: Unit
    epsilon: float
    delta: float
    mechanism: Mechanism
    noise_multiplier: float
    deviation: float
    reserve: LedgerHead
    version: str


class EvaluationScores(TypedDict):
    """On a public dataset, exact."""

    loss: float
    accuracy: NotRequired[float]
    rmse: NotRequired[float]


class Evaluation(TypedDict):
    id: EvaluationId
    state: Literal["RUNNING", "SUCCEEDED", "FAILED"]
    state_reason: Literal[
        "worker_lost", "shutdown", "no_memory", "dataset_corrupt", "model_corrupt", "cache_full",
        "not_float_safe", "internal", None
    ]
    model: ModelId
    dataset: DatasetId
    evaluation: DatasetId | HoldoutEvaluation
    guarantee: EvaluationGuarantee | None
    scores: EvaluationScores | None
    quality: Quality | None
    project: str
    created_by: str
    create_time: Time
    end_time: TimeOrNull


class EvaluationPage(TypedDict):
    evaluations: list[Evaluation]
    next_page_token: PageTokenOrNull


class HoldoutScore(TypedDict):
    """The score of the model on the holdout of the dataset that it was trained on, with its 95 %
    interval: accuracy, or rmse for a regression. It is that of the newest evaluation of the model,
    the one that ended last, or else that of the job's own evaluation. Each was paid for."""

    metric: Literal["accuracy", "rmse"]
    value: float
    low: float
    high: float
    evaluation: EvaluationId | None


class QualityFigure(TypedDict):
    """A figure and its 95 % interval, which covers noise and sampling."""

    value: float
    low: float | None
    high: float


class QualityClassesItem(TypedDict):
    precision: QualityInterval
    recall: QualityInterval
    f1: QualityInterval


QualityCalibrationItem = TypedDict(
    "QualityCalibrationItem",
    {
        'from': 'float',
        'to': 'float',
        'count': 'float',
        'share': 'QualityInterval',
    },
)


class QualityThresholdsItem(TypedDict):
    threshold: float
    precision: QualityInterval
    recall: QualityInterval
    selected: QualityInterval


QualityResidualsItem = TypedDict(
    "QualityResidualsItem",
    {
        'from': 'float',
        'to': 'float',
        'count': 'float',
    },
)


class Quality(TypedDict):
    """The quality of the model on the held-out records: one release of counts with Gaussian noise,
    and the figures computed from it."""

    part: PartName
    records: int
    epsilon: float
    delta: float
    relation: Relation
    unit: Unit
    mechanism: Mechanism
    reserve: LedgerHead
    deviation: float
    accuracy: QualityInterval
    auc: QualityInterval
    rmse: QualityInterval
    r_squared: QualityInterval
    classes: list[QualityClassesItem]
    calibration: list[QualityCalibrationItem]
    thresholds: NotRequired[list[QualityThresholdsItem]]
    confusion: list[list[float]]
    error_clip: float | None
    residuals: list[QualityResidualsItem]


class Point(TypedDict):
    step: int
    accuracy: NotRequired[float | None]
    rmse: NotRequired[float | None]
    loss: float | None


class JobWarningsItem(TypedDict):
    code: Literal["no_evaluation"]
    text: str


class JobProgress(TypedDict):
    step: int
    steps: int
    queue_position: int | None
    seconds_left: int | None


class JobMetrics(TypedDict):
    """Metrics on public data, or paid for. The view `summary` of a list has no `history` and no
    `released`."""

    evaluation: Point | None
    holdout: HoldoutScoreOrNull
    history: NotRequired[list[Point]]
    released: NotRequired[list[Released]]


class JobMeasurement(TypedDict):
    """Present for a job that is evaluated on a holdout."""

    noise_multiplier: float
    ledger_seq: int


class Job(TypedDict):
    warnings: NotRequired[JobWarnings]
    id: JobId
    display_name: DisplayName
    tags: Tags
    state: JobState
    state_reason: JobReason | None
    attempt: int
    dataset: DatasetId
    evaluation: DatasetId | HoldoutEvaluation | None
    model_spec: ModelSpec
    algorithm: Algorithm
    optimizer: Optimizer
    averaging: NotRequired[Averaging]
    class_weights: NotRequired[ClassWeights]
    features: NotRequired[Features]
    scaling: NotRequired[Scaling]
    standardise: NotRequired[Standardise]
    batch_size: BatchSize
    ranks: NotRequired[Ranks]
    rows_per_person: NotRequired[RowsPerPerson]
    augmentation: NotRequired[Augmentation]
    epochs: NotRequired[Epochs]
    steps: NotRequired[Steps]
    progress: JobProgress
    privacy: JobPrivacyState | None
    metrics: JobMetrics
    measurement: NotRequired[JobMeasurement]
    quality: NotRequired[Quality | None]
    model: ModelId | None
    traceparent: str | None
    sweep: SweepId | None
    project: str
    created_by: str
    create_time: Time
    start_time: TimeOrNull
    end_time: TimeOrNull


class StateEvent(TypedDict):
    """The state of a job or its place in the queue has changed."""

    id: JobId
    state: JobState
    state_reason: str | None
    queue_position: int | None


class ProgressEvent(TypedDict):
    """A job has made progress; the figures are those of the job at the same tick."""

    id: JobId
    step: int
    steps: int
    epsilon_spent: float | None
    seconds_left: int | None


class ChangeEvent(TypedDict):
    """Something else about a job has changed, such as its name; or the job was deleted."""

    id: JobId


class EndEvent(TypedDict):
    """A job has ended; no event follows."""

    state: JobState
    model: ModelId | None


class BudgetEvent(TypedDict):
    """A job that was submitted, or has ended, changed what is spent or held of a budget."""

    dataset: DatasetId
    share: Share
    epsilon_spent: float


class DatasetEvent(TypedDict):
    """A dataset was registered, or something about it has changed, such as its state or its
    grant."""

    id: DatasetId
    state: DatasetState


class SweepEvent(TypedDict):
    """A sweep was created, or the states of its runs have changed."""

    id: SweepId
    state: Literal["ACTIVE", "ENDED"]
    states: SweepStates


class ListsEvent(TypedDict):
    dataset: DatasetId | None


class JobPrivacyState(TypedDict):
    """The privacy that a job requested, and what it may cost and has cost."""

    relation: Relation
    unit: Unit
    epsilon: float | None
    budget_fraction: NotRequired[float]
    delta: float
    accountant: Literal["rdp", "pld"]
    noise_multiplier: float
    sampling_rate: float
    authorised_steps: int
    epsilon_planned: float | None
    epsilon_spent: float | None
    ledger_seq: int | None


class JobLogEntryReleased(TypedDict):
    """Only for the event released; it is as in the job's metrics."""

    step: int


class JobLogEntry(TypedDict):
    seq: int
    time: TimeOrNull
    event: Literal["state", "authorised", "evaluation", "released"]
    state: NotRequired[JobState]
    state_reason: NotRequired[JobReason | None]
    authorised_steps: NotRequired[int]
    evaluation: NotRequired[Point]
    released: NotRequired[JobLogEntryReleased]


class JobLogPage(TypedDict):
    log: list[JobLogEntry]
    next_page_token: PageTokenOrNull


class JobPage(TypedDict):
    jobs: list[Job]
    next_page_token: PageTokenOrNull


class ShareAsked(TypedDict):
    """The current budget, in shares of its capacity as `GET /v1/datasets/{id}/budget` shows them,
    and the share that this job would take at the same order."""

    order: float
    spent: float
    held: float
    left: float
    asked: float | None
    fits: bool


class RoomAsked(TypedDict):
    order: float
    weight: float
    spent: float | None
    held: float | None
    asked: float | None


class SweepRequestRandom(TypedDict):
    """Each setting of each run is drawn independently, from the seed, which is public."""

    count: int
    seed: NotRequired[int]
    settings: dict[str, Any]


class SweepRequest(TypedDict):
    """A job, and one of `runs`, `grid` and `random`. A setting is a JSON pointer into the job and
    its value; missing objects on the path are created. A pointer has at most 32 parts, and no
    pointer of a run is inside another, as /x/1 is inside /x. The dataset, the evaluation, the
    display name and the tags are the same for all runs."""

    job: dict[str, Any]
    runs: NotRequired[list[SweepSettings]]
    grid: NotRequired[dict[str, Any]]
    random: NotRequired[SweepRequestRandom]


class SweepValues(TypedDict):
    """One of the values, each equally likely."""

    values: list[SweepValue]


class SweepSpan(TypedDict):
    """A number from low to high, uniform, or uniform in its logarithm, which needs low above 0. It
    has four digits, or is whole; if it is whole, the range must contain a whole number."""

    low: float
    high: float
    scale: NotRequired[Literal["linear", "log"]]
    whole: NotRequired[bool]


class SweepRun(TypedDict):
    run: int
    settings: SweepSettings
    job: JobId
    state: JobState
    step: int
    steps: int
    epsilon_planned: float | None
    noise_multiplier: float | None
    epsilon_spent: float | None
    evaluation: Point | None
    holdout: HoldoutScoreOrNull
    measured: float | None
    model: ModelId | None


class SweepStates(TypedDict):
    """The number of its runs in each state."""

    QUEUED: int
    RUNNING: int
    CANCELLING: int
    SUCCEEDED: int
    FAILED: int
    CANCELLED: int


class Sweep(TypedDict):
    id: SweepId
    dataset: DatasetId
    evaluation: DatasetId | None
    state: Literal["ACTIVE", "ENDED"]
    states: SweepStates
    epsilon: float | None
    epsilon_spent: NotRequired[float | None]
    delta: NotRequired[float | None]
    metric: Literal["accuracy", "rmse"]
    winner: JobId | None
    winner_model: ModelId | None
    winner_metrics: SweepScores | None
    run_count: int
    runs: NotRequired[list[SweepRun]]
    project: str
    created_by: str
    create_time: Time


class SweepScores(TypedDict):
    evaluation: Point | None
    holdout: HoldoutScoreOrNull


class SweepPage(TypedDict):
    sweeps: list[Sweep]
    next_page_token: PageTokenOrNull


class SweepEstimateRunsItem(TypedDict):
    run: int
    settings: SweepSettings
    steps: int
    epsilon_planned: float | None
    noise_multiplier: float | None


class SweepEstimate(TypedDict):
    """The privacy figures are null on public data."""

    fits: Fits
    epsilon: float | None
    epsilon_after: float | None
    epsilon_holdout: float | None
    delta: float | None
    run_count: int
    runs: list[SweepEstimateRunsItem]


class EstimateRanks(TypedDict):
    """For a job of several ranks, the share of their time that the job would use, by a model of
    work, network and the rank that draws most; null for one rank. Below a half, several ranks are
    not worth it."""

    count: int
    efficiency: float
    pays: bool


class EstimateStandardise(TypedDict):
    """For a job that standardises: what the means and deviations cost in addition. The figures of
    the budget count both; `jobs_like_this` counts the purchase each time."""

    statistics: StatisticsId | None
    epsilon: float


class EstimateTuning(TypedDict):
    """The cost of choosing the best of `runs` jobs with this noise, at the job's delta; null unless
    `runs` was given. For planning: each run is charged as a separate job."""

    runs: int
    epsilon_composed: float | None
    epsilon_random_stopping: float | None


class Estimate(TypedDict):
    """The privacy figures are null if the algorithm adds no noise."""

    warnings: NotRequired[JobWarnings]
    fits: Fits
    steps: int
    batch_size: int
    sampling_rate: float
    parameters: int
    memory: int
    seconds: int | None
    epsilon_planned: float | None
    delta: float | None
    order: float | None
    noise_multiplier: float | None
    paper_claim: float | None
    largest_epsilon: float | None
    most_steps: int | None
    ranks: EstimateRanks | None
    share: ShareAsked | None
    standardise: NotRequired[EstimateStandardise]
    measurement: NotRequired[EstimateMeasurement]
    rooms: RoomsAsked | None
    epsilon_after: float | None
    exposure_after: Guarantee | None
    jobs_like_this: int | None
    tuning: EstimateTuning | None


class Mechanism(TypedDict):
    """The mechanism that was run and charged, in its canonical form, from which the price can be
    computed again."""

    kind: Literal[
        "sampled_gaussian", "gaussian", "fixed_subset", "error_feedback", "filtered_gaussian",
        "joint_release"
    ]
    relation: Relation
    unit: NotRequired[Literal["person"]]
    runs: list[list[float]]
    feedback: NotRequired[list[str | float]]
    filter: NotRequired[list[float]]
    turns: NotRequired[int]
    prefixes_priced: bool


class CertificateText(TypedDict):
    """Present for a model of texts: how a text becomes ids, with the SHA-256 of the tokenizer's
    files. It is absent for models published before this member existed."""

    length: int
    tokenizer: Tokenizer


class CertificateAncestorsItem(TypedDict):
    id: Weights
    sha256: Digest
    note: NotRequired[str]
    guarantee: Literal["not covered"]


class CertificateFrozen(TypedDict):
    """The parameters that were not trained, and the SHA-256 of their floats as they are stored."""

    parameters: int
    sha256: Digest


class CertificateBase(TypedDict):
    """Present for a model that was published without its frozen layers: the uploaded file that has
    them, and the names by which they are found there."""

    file: FileId
    sha256: Digest
    names: str


class CertificateGuarantee(TypedDict):
    """The guarantee of this model on its own; null if nothing was reserved, on public data."""

    relation: Relation
    unit: Unit
    epsilon: float | None
    delta: float
    accountant: Literal["rdp", "pld", "gaussian"]
    order: float | None
    mechanism: Mechanism
    ran: NotRequired[Mechanism]
    sampling_rate: float
    noise_multiplier: float
    steps: int
    reserve: LedgerHead


class CertificateDatasetGuarantee(TypedDict):
    """The guarantee of all jobs on the dataset in all epochs, including this one, when the model
    was published; null if nothing was reserved. It is absent for models published before this
    member existed."""

    guarantee: Guarantee
    epochs: BudgetEpochs


class CertificateNoiseHistogram(TypedDict):
    """The grid of the counts, if the algorithm releases a histogram of each batch."""

    bins: int
    scale: float


class CertificateNoiseNorm(TypedDict):
    """The grid of the sum's norm, if the algorithm releases it in addition to the sum."""

    scale: float


class CertificateNoiseDifferences(TypedDict):
    """The grid of sums of gradient differences, at clip norm 1."""

    scale: float
    inflation: float


class CertificateNoiseLocal(TypedDict):
    """The grid of sums of gradient differences over subsets, at clip norm 1."""

    scale: float
    inflation: float


class CertificateNoise(TypedDict):
    """The way in which the noise was made, so that the guarantee holds in floating point."""

    sampler: Literal["floored-gaussian/1"]
    clip_norm: float
    scale: float
    inflation: float
    spread: float
    cells: int
    cell_rows_max: int
    terms_max: int
    roundings: int
    position_classes: int
    kernel: str
    dense_kernel: NotRequired[str]
    convolution_kernel: NotRequired[str]
    float_safe: bool
    histogram: NotRequired[CertificateNoiseHistogram]
    norm: NotRequired[CertificateNoiseNorm]
    differences: NotRequired[CertificateNoiseDifferences]
    local: NotRequired[CertificateNoiseLocal]


class Certificate(TypedDict):
    format: Literal["epsilond/1"]
    version: str
    model: ModelId
    job: JobId
    dataset: DatasetId
    records: int
    ranks: NotRequired[Ranks]
    rows_per_person: NotRequired[RowsPerPerson]
    augmentation: NotRequired[Augmentation]
    steps: int
    algorithm: Algorithm
    optimizer: NotRequired[Optimizer]
    averaging: NotRequired[Averaging]
    class_weights: NotRequired[ClassWeights]
    scaling: NotRequired[Scaling]
    standardise: NotRequired[Standardise]
    text: NotRequired[CertificateText]
    ancestors: NotRequired[list[CertificateAncestorsItem]]
    frozen: NotRequired[CertificateFrozen]
    base: NotRequired[CertificateBase]
    guarantee: CertificateGuarantee | None
    quality: NotRequired[Quality]
    dataset_guarantee: NotRequired[CertificateDatasetGuarantee | None]
    noise: CertificateNoise | None


class ModelMetrics(TypedDict):
    """Metrics on public data, or paid for, as in its job."""

    evaluation: Point | None
    holdout: HoldoutScoreOrNull


class Model(TypedDict):
    id: ModelId
    display_name: DisplayName
    tags: Tags
    job: JobId
    dataset: DatasetId
    algorithm: str
    metrics: ModelMetrics
    sha256: Digest
    size: int
    certificate: Certificate
    create_time: Time


class KeyPolicyMaxShare(TypedDict):
    """The largest share of each dataset's capacity, at one of its weighted orders. It counts what
    jobs of the key's owner have spent within the period, what open jobs hold, and the requested
    job."""

    share: float
    period: str


class KeyPolicy(TypedDict):
    """The limits of each job and each estimate of this key; 403 `policy_violation` otherwise."""

    max_epsilon_per_job: NotRequired[float]
    min_noise_multiplier: NotRequired[float]
    algorithms: NotRequired[list[AlgorithmName]]
    max_open_jobs: NotRequired[int]
    max_share: NotRequired[KeyPolicyMaxShare]


class KeyRequest(TypedDict):
    owner: str
    project: str
    role: Role
    scopes: NotRequired[list[Scope]]
    days: NotRequired[int]
    policy: NotRequired[KeyPolicy]


class Key(TypedDict):
    id: KeyId
    state: Literal["ACTIVE", "EXPIRED", "REVOKED"]
    owner: str
    project: str
    role: Role
    scopes: list[Scope]
    policy: KeyPolicy | None
    policy_proposed: KeyPolicyProposed | None
    create_time: Time
    expire_time: Time
    revoke_time: TimeOrNull
    last_used: str | None


class KeyPolicyRequest(TypedDict):
    policy: KeyPolicy | None


class KeyPolicyProposed(TypedDict):
    """A policy that waits for a second person."""

    policy: KeyPolicy | None
    proposed_by: str
    propose_time: Time


class KeyMade(TypedDict):
    """A key with its secret, which is shown once."""

    id: KeyId
    state: Literal["ACTIVE", "EXPIRED", "REVOKED"]
    owner: str
    project: str
    role: Role
    scopes: list[Scope]
    policy: KeyPolicy | None
    policy_proposed: KeyPolicyProposed | None
    create_time: Time
    expire_time: Time
    revoke_time: TimeOrNull
    last_used: str | None
    key: str


class KeyPage(TypedDict):
    keys: list[Key]
    next_page_token: PageTokenOrNull


class ModelPage(TypedDict):
    models: list[Model]
    next_page_token: PageTokenOrNull


class PredictRequest(TypedDict):
    """Rows in the dataset's own units and column order. idx, npy, cifar: the values of one record,
    row-major, not scaled. libsvm: all features. csv and jsonl: the numeric columns as numbers and
    the categorical, date, hashed and text ones as strings, boolean ones as true or false; null is a
    missing cell, as is a declared text. A row of these may also be an object that has these cells
    by the names of their columns, in any order; members for the label and for ignored columns are
    allowed and not read. Rows x the larger of features and classes: at most 2^25. Rows x the
    floating-point operations of the model's products for one row: at most 2^40, but a single row is
    always accepted."""

    inputs: list[Any]


PredictAnswerOutputsItemClass = TypedDict(
    "PredictAnswerOutputsItemClass",
    {
        'class': 'str | float',
        'probabilities': 'list[float]',
    },
)


class PredictAnswerOutputsItemValue(TypedDict):
    value: float | None


class PredictAnswer(TypedDict):
    outputs: list[PredictAnswerOutputsItemClass | PredictAnswerOutputsItemValue]


class AlgorithmListAlgorithmsItem(TypedDict):
    name: str
    title: str
    paper: str
    charge: str
    when_to_use: str
    private: bool
    schema: dict[str, Any]


class AlgorithmList(TypedDict):
    algorithms: list[AlgorithmListAlgorithmsItem]


class SessionRequest(TypedDict):
    key: str


class Session(TypedDict):
    """The identity of the client that made a request."""

    authenticated: bool
    name: str | None
    project: str | None
    role: Literal["local", "analyst", "data_owner", "privacy_officer", "operator", "auditor", None]
    scopes: list[str]
    via: Literal["local", "bearer", "session", "proxy", None]
    key: str | None
    expire_time: str | None


class StatusJobs(TypedDict):
    """The number of jobs in each state."""

    QUEUED: int
    RUNNING: int
    CANCELLING: int
    SUCCEEDED: int
    FAILED: int
    CANCELLED: int


class StatusDatasets(TypedDict):
    """The numbers of datasets that this client may see and that are not deleted."""

    private: int
    public: int
    waiting: int


class StatusQueue(TypedDict):
    length: int
    limit: int


class Status(TypedDict):
    version: str
    ready: bool
    draining: bool
    jobs: StatusJobs
    datasets: StatusDatasets
    workers: int
    queue: StatusQueue
    ledger: LedgerHead
    start_time: Time


class Readiness(TypedDict):
    """The conditions for accepting work, and the limits of the service, one word each."""

    status: Literal["ok", "not_ready"]
    ledger: Literal["writable", "unwritable"]
    chain: Literal["verified"]
    disk: Literal["room", "full"]
    draining: Literal["no", "yes"]


class Version(TypedDict):
    version: str
    api: Literal["v1"]
    certificate: Literal["epsilond/1"]
    grid: Literal["g1"]
    kernel: str


class ProblemErrorsItem(TypedDict):
    pointer: str
    parameter: str | None
    detail: str
    code: FaultCode
    line: NotRequired[int]
    column: NotRequired[int]


class Problem(TypedDict):
    """RFC 9457. `type` is a name and not an address; `code` is its last part."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None
    code: ProblemCode
    retryable: bool
    advice: str
    errors: list[ProblemErrorsItem]
    file: NotRequired[str]
    line: NotRequired[int | None]
    column: NotRequired[int | None]
    reason: NotRequired[str]
    report: NotRequired[ImportReport]
    largest_epsilon: NotRequired[float | None]
    most_steps: NotRequired[int | None]
    orders: NotRequired[list[float]]
    needed: NotRequired[list[float | None]]
    available: NotRequired[list[float | None]]
    policy: NotRequired[str | None]
    limit: NotRequired[float | None]


DatasetId = str
PageToken = str
PageTokenOrNull = str | None
JobId = str
StatisticsId = str
EvaluationId = str
HolderIdOrNull = str | None
FileId = str
SweepId = str
ModelId = str
Time = str
TimeOrNull = str | None
Digest = str
PlainText = str
PathPart = str
Relation = Literal["zero_out", "replace_one"]
Range = list[float]
CellText = str
Classes = int
Task = Literal["classification", "regression"]
Labels = list[float]
Column = (
    ColumnNumeric | ColumnCategorical | ColumnBoolean | ColumnDate | ColumnHashed | ColumnText |
    ColumnLabel | ColumnIgnored | ColumnPrivacyId
)
Tokenizer = dict[str, Any]
TokenCount = int
TokenizerDigests = list[Digest]
MissingTexts = list[str]
IfMissingNumber = Literal["default", "indicator"]
IfMissingWord = Literal["default", "category"]
Day = str
Values = list[CellText]
Delimiter = str
DecimalSign = Literal[".", ","]
Columns = list[Column]
Unit = Literal["record", "person"]
RowsPerPerson = Literal[1, 2, 4, 8, 16]
RowsKept = Literal[1, 2, 4, 8, 16]
PrivacyIdFile = bool
Holdout = float
HoldoutSeed = int
PartName = Literal["train", "holdout"]
DatasetParts = list[DatasetPartsItem]
DatasetPrivacyPublic = Literal["public"]
DatasetPrivacy = DatasetPrivacyPublic | DatasetPrivacyBudget
AcknowledgeEpsilon = list[Literal["epsilon_above_10"]]
Acknowledge = list[Literal["epsilon_above_10", "delta_above_1_over_n"]]
AcknowledgeDelta = list[Literal["delta_above_1_over_n"]]
DiscoveryDelta = float
GridOrder = float
DisplayName = str | None
TagValue = str
Tags = dict[str, Any]
TagsOrNull = Tags | None
DatasetRequest = (
    DatasetRequestArrays | DatasetRequestCifar | DatasetRequestLibsvm | DatasetRequestCsv |
    DatasetRequestJsonl
)
DatasetFile = Literal["features", "labels", "data", "privacy_id"]
DatasetFormat = Literal["idx", "csv", "jsonl", "libsvm", "npy", "cifar10", "cifar100"]
DatasetState = Literal["CREATED", "IMPORTING", "READY", "FAILED", "DELETED"]
DatasetReason = Literal["import_failed", "disk_full", "internal"]
WebhookId = str
WebhookEvent = Literal[
    "job.succeeded", "job.failed", "job.cancelled", "dataset.imported", "budget.low",
    "budget.exhausted", "grant.pending", "grant.approved", "sweep.ended", "sweep.cancelled"
]
WebhookMessageType = Literal[
    "job.succeeded", "job.failed", "job.cancelled", "dataset.imported", "budget.low",
    "budget.exhausted", "grant.pending", "grant.approved", "sweep.ended", "sweep.cancelled",
    "webhook.test"
]
WebhookUrl = str
Vector = list[float | None]
EntryVector = list[float | None]
BudgetEpochs = list[BudgetEpochsItem]
Rooms = list[RoomsItem]
Neighbour = Literal["add_remove", "zero_out", "replace_one"]
ChargedWork = (
    SampledGaussianWork | GaussianWork | FixedSubsetWork | LaplaceWork | ZcdpWork | PureWork
)
ChargeId = str
ChargeState = Literal["OPEN", "SETTLED", "LAPSED"]
GrantId = str
Fits = Literal["yes", "held", "no"]
GrantState = Literal["PENDING", "APPROVED", "REJECTED", "LAPSED"]
DatasetGrant = DatasetGrantId | None
AuditFilter = str
LossName = Literal["softmax_cross_entropy", "logistic", "squared"]
Loss = LossName | LossHuber
Layer = (
    LayerDense | LayerConv2d | LayerMaxPool2d | LayerAvgPool2d | LayerPlain | LayerGelu |
    LayerGroupNorm | LayerLayerNorm | LayerDropout | LayerResidual | LayerScatter | LayerReplicate |
    LayerCrop | LayerEmbedColumns | LayerEmbedding | LayerPosition | LayerTokenType | LayerAttention
    | LayerLstm | LayerTake | LayerStepFunctions
)
Kernel = int | list[int]
ModelSpec = ModelPreset | ModelSpecLayers
Weights = ModelId | FileId
Trainable = (
    Literal["all", "head", "bias"] | TrainableLast | TrainableLora | TrainableOnly | TrainableExcept
)
NamePatterns = list[str]
Fresh = Literal["head"] | NamePatterns
Seed = int
Algorithm = (
    AlgorithmDpsgd | AlgorithmAdp | AlgorithmDcsgdP | AlgorithmDcsgdE | AlgorithmQuantileClip |
    AlgorithmValueClip | AlgorithmDicesgd | AlgorithmDpgd | AlgorithmBoostedHistograms |
    AlgorithmDiff2Gd | AlgorithmDiff2BvrLSgd | AlgorithmSgd
)
AlgorithmName = Literal[
    "dpsgd", "adp", "dcsgd_p", "dcsgd_e", "quantile_clip", "value_clip", "dicesgd", "dpgd",
    "boosted_histograms", "diff2_gd", "diff2_bvr_l_sgd", "sgd"
]
LearningRate = float | LearningRateLine
Optimizer = OptimizerSgd | OptimizerAdam | OptimizerAdamBc
RateSchedule = Literal["linear", "cosine"]
Warmup = float
WeightDecay = float
Averaging = AveragingNone | AveragingTail | AveragingEma
Features = Literal["cached", "streamed"]
ClassWeights = list[float]
BatchSize = int
Steps = int
Epochs = int
StandardiseRequest = bool | StandardiseTerms
Ranks = int
Bins = int | list[float]
StatisticsColumn = str
StatisticMade = (
    StatisticHistogram | StatisticTable | StatisticNumber | StatisticQuantiles |
    StatisticMomentsMade | StatisticWords
)
Statistic = (
    StatisticHistogram | StatisticTable | StatisticNumber | StatisticQuantiles | StatisticMoments |
    StatisticWords
)
StatisticKind = Literal[
    "histogram", "table", "sum", "mean", "variance", "quantiles", "moments", "words"
]
Interval = list[float]
Margin = float
Answer = (
    AnswerHistogram | AnswerTable | AnswerNumber | AnswerQuantiles | AnswerMoments | AnswerWords
)
QualityInterval = QualityFigure | None
HoldoutScoreOrNull = HoldoutScore | None
JobReason = Literal[
    "user_cancel", "worker_lost", "shutdown", "diverged", "no_memory", "dataset_corrupt",
    "dataset_order", "model_corrupt", "cache_full", "not_float_safe", "rank_lost", "internal",
    "used_up"
]
JobState = Literal["QUEUED", "RUNNING", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED"]
JobWarnings = list[JobWarningsItem]
Released = dict[str, Any]
RoomsAsked = list[RoomAsked]
SweepPointer = str
SweepValue = Any
SweepSettings = dict[str, Any]
KeyId = str
Scope = Literal[
    "budgets:read", "budgets:audit", "datasets:admin", "datasets:freeze", "grants:propose",
    "grants:approve", "jobs:submit", "jobs:read", "jobs:cancel", "jobs:edit", "charges:submit",
    "models:read", "models:edit", "certificates:read", "keys:admin", "audit:read", "ops:read",
    "webhooks:admin"
]
Role = Literal["analyst", "data_owner", "privacy_officer", "operator", "auditor"]
ProblemCode = Literal[
    "invalid_argument", "idempotency_key_missing", "not_float_safe", "unit_unsupported",
    "one_rank_only", "job_too_large", "forbidden_origin", "untrusted_proxy", "key_in_query",
    "needs_refresh", "key_missing", "key_malformed", "key_unknown", "key_expired", "session_ended",
    "key_revoked", "too_many_wrong_keys", "key_ended", "policy_violation", "second_person",
    "forbidden", "not_found", "method_not_allowed", "not_acceptable", "gone", "precondition_failed",
    "precondition_required", "body_too_large", "uri_too_long", "head_too_large",
    "unsupported_media_type", "expectation_failed", "range_not_satisfiable", "budget_exhausted",
    "budget_held", "grant_pending", "grant_decided", "already_exists", "conflict",
    "dataset_not_ready", "dataset_busy", "dataset_immutable", "dataset_in_use", "file_in_use",
    "dataset_private", "dataset_public", "dataset_frozen", "dataset_not_frozen",
    "dataset_unavailable", "dataset_order", "charge_ended", "block_granted", "block_out_of_order",
    "duplicate_content", "upload_busy", "upload_offset", "upload_length", "webhook_limit",
    "job_terminal", "job_active", "job_has_model", "idempotency_key_reused", "import_failed",
    "no_answer", "internal", "model_corrupt", "dataset_corrupt", "queue_full", "disk_full",
    "draining", "cancelled", "no_memory", "ledger_unavailable"
]
FaultCode = Literal[
    "malformed", "unknown", "repeated", "missing", "wrong_type", "out_of_range", "invalid"
]
