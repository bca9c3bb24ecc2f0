// The policy of a key: in words, and as fields.
import {html, nothing} from './lit-html.js';
import {percent, plain} from './format.js';
import {field, input, read} from './schema_form.js';

export function policyWords(policy) {
  const said = [];
  if (policy?.max_epsilon_per_job != null) said.push(`ε ${plain(policy.max_epsilon_per_job)} a job`);
  if (policy?.min_noise_multiplier != null) said.push(`noise of ${plain(policy.min_noise_multiplier)} or more`);
  if (policy?.max_share != null) said.push(`${percent(policy.max_share.share)} of a budget in ${policy.max_share.period.slice(1, -1)} days`);
  if (policy?.max_open_jobs != null) said.push(`${policy.max_open_jobs} open jobs`);
  if (policy?.algorithms != null) said.push(policy.algorithms.join(', '));
  return said.length ? said.join(' · ') : 'no limits';
}

export function policyForm(policy = null) {
  const text = (value) => (value == null ? '' : String(value));
  return {epsilon: text(policy?.max_epsilon_per_job), noise: text(policy?.min_noise_multiplier), open: text(policy?.max_open_jobs),
    share: text(policy?.max_share?.share), days: text(policy?.max_share?.period.slice(1, -1)), algorithms: (policy?.algorithms ?? []).join(', ')};
}

// Returns the policy from the form, or null if it sets no limit.
export function policyOf({epsilon, noise, open, share, days, algorithms}) {
  const named = algorithms.split(/[\s,;]+/).filter(Boolean);
  const made = {max_epsilon_per_job: read(epsilon), min_noise_multiplier: read(noise), max_open_jobs: read(open), algorithms: named.length ? named : undefined,
    max_share: read(share) === undefined ? undefined : {share: read(share), period: `P${days.trim() || '30'}D`}};
  const limits = Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined));
  return Object.keys(limits).length ? limits : null;
}

// Makes the fields. The pointers of errors begin with /policy.
export function policyFields(form, {errors, changed}) {
  const text = (name, member, label, hint, placeholder = 'no limit', kind = 'number') => {
    const id = `/policy/${member}`;
    return field({id, label, hint, errors, within: true, control: input({id, kind, value: form[name], placeholder, within: true, errors, changed: (value) => {
      form[name] = value;
      changed();
    }})});
  };
  return html`<div class="fields">${text('epsilon', 'max_epsilon_per_job', 'Epsilon of a job, at most', 'A look at the holdout counts by itself.')}
    ${text('noise', 'min_noise_multiplier', 'Noise multiplier, at least', 'Of the step that has least.')}
    ${text('share', 'max_share', 'Share of each budget, at most', 'Between 0 and 1, of all jobs of the owner within so many days.')}
    ${form.share ? text('days', 'max_share/period', 'Within days', '', '30') : nothing}
    ${text('open', 'max_open_jobs', 'Open jobs, at most', 'Queued and running, of the owner.')}
    ${text('algorithms', 'algorithms', 'Algorithms', 'Names, with commas between; no others.', 'all of them', 'text')}</div>`;
}
