// Models as marks: quality against epsilon. Each algorithm has a colour and a shape.
import {bare, percent, plain} from './format.js';
import {shapeNames} from './chart.js';
import {figure, isShare} from './score.js';

const colours = ['spent', 'asked', 'held', 'bad'];

const score = (job) => figure(job.metrics);

const areShares = (jobs) => jobs.length > 0 && isShare(jobs[0].metrics);

// Returns the privately trained jobs whose score is known, best first.
export function measured(jobs) {
  const found = jobs.filter((job) => score(job) != null && job.privacy?.epsilon_spent != null);
  const up = areShares(found);
  return found.sort((a, b) => (up ? score(b) - score(a) : score(a) - score(b)));
}

export function scatter(jobs, dataset, front = false) {
  const up = areShares(jobs);
  const sorted = [...jobs].sort((a, b) => a.privacy.epsilon_spent - b.privacy.epsilon_spent);
  const names = [...new Set(sorted.map((job) => job.algorithm.name))];
  const series = names.map((name, i) => ({
    label: name,
    kind: 'marks',
    colour: colours[i % colours.length],
    shape: shapeNames[(i + Math.floor(i / 4)) % shapeNames.length],
    values: sorted.map((job) => (job.algorithm.name === name ? score(job) : null)),
  }));
  if (front && sorted.length > 1) {
    let best = null;
    series.push({label: 'best for its ε', kind: 'step', colour: 'ink-2', values: sorted.map((job) => {
      const here = score(job);
      best = best == null ? here : up ? Math.max(best, here) : Math.min(best, here);
      return best;
    })});
  }
  return {
    title: `${up ? 'Accuracy' : 'Error'} against epsilon`,
    sentence: `${jobs.length} model${jobs.length === 1 ? '' : 's'} of ${dataset}; ${up ? 'up' : 'down'} is better, left is more private.`,
    x: {label: 'epsilon of the model', show: bare},
    y: {label: up ? 'accuracy' : 'rmse', show: up ? (value) => percent(value, 1) : (value) => plain(value)},
    points: sorted.map((job) => job.privacy.epsilon_spent),
    series,
  };
}
