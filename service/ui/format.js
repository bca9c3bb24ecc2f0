// Formats numbers, times and names for people.
const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
const raised = {'-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹'};

export const none = '–';

export function count(value) {
  return value == null ? none : grouped.format(value);
}

// Formats the number of a dataset's units, which are records or persons.
export function units({records, unit}) {
  return `${count(records)} ${unit === 'person' ? 'persons' : 'records'}`;
}

export function plain(value, digits = 4) {
  if (value == null) return none;
  if (Number.isInteger(value)) return grouped.format(value);
  return Math.abs(value) >= 1e5 ? grouped.format(value) : String(Number(value.toPrecision(digits)));
}

// Formats an epsilon without the letter.
export function bare(value) {
  if (value == null) return none;
  if (value === 0) return '0';
  return value < 0.01 ? value.toPrecision(1) : value.toFixed(2);
}

export function epsilon(value) {
  return value == null ? none : `ε ${bare(value)}`;
}

// Formats a delta: 10⁻⁵, 2·10⁻⁶.
export function delta(value) {
  if (value == null) return none;
  const [digits, power] = value.toExponential(1).split('e');
  const ten = '10' + [...String(Number(power))].map((c) => raised[c]).join('');
  return Number(digits) === 1 ? ten : `${Number(digits)}·${ten}`;
}

export function percent(share, digits = 0) {
  return share == null ? none : `${(100 * share).toFixed(digits)} %`;
}

export function bytes(size) {
  if (size == null) return none;
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return none;
  const whole = Math.max(0, Math.round(seconds));
  const two = (n) => String(n).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

export function age(time) {
  if (!time) return none;
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

// Formats a model's quality on public data, at one point of its history.
export function quality(point) {
  if (!point) return none;
  if (point.accuracy != null) return percent(point.accuracy, 1);
  return point.rmse != null ? `rmse ${plain(point.rmse)}` : none;
}

// Formats the learning rate of a job's optimizer, with schedule and warm-up.
export function rate({learning_rate: value, schedule, warmup}) {
  const way = value?.initial == null ? plain(value) : `${plain(value.initial)} to ${plain(value.final)}`;
  return `${way}${schedule === 'cosine' ? ', cosine' : ''}${warmup ? `, warm-up ${percent(warmup)}` : ''}`;
}

// Names a job that nobody has named: "linear, ε 1, no. 7". The number is the entry of the ledger that reserved its price;
// a job without one has the end of its id.
export function jobName({display_name: name, model_spec: spec, privacy, id}) {
  if (name) return name;
  const model = spec?.preset ?? 'layers';
  if (!privacy) return `${model}, public data, no. ${tail(id)}`;
  return `${model}, ε ${plain(privacy.epsilon ?? privacy.epsilon_planned, 2)}, no. ${privacy.ledger_seq ?? tail(id)}`;
}

// Returns the declared words of the classes in their order, or none if the dataset declares none.
export function classWords(dataset) {
  return (dataset?.columns?.find(({kind}) => kind === 'label')?.values ?? dataset?.labels ?? []).map(String);
}

// Names class i by its word, or by its number.
export function className(words, i) {
  return words[i] === undefined ? `class ${i}` : `“${words[i]}”`;
}

export function shortId(id) {
  return `${id.slice(0, 4)}…${id.slice(-6)}`;
}

export function tail(id) {
  return id.slice(-6);
}
