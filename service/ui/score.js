// The score of a model in lists: on the holdout with its interval, or else the last one on public data.
import {html} from './lit-html.js';
import {none, quality} from './format.js';

const shown = (metric, value) => quality({[metric]: value});

// Returns the number by which models are compared, or null. of: a job's or a model's metrics, or a run of a sweep.
export function figure({holdout, evaluation}) {
  return holdout?.value ?? evaluation?.accuracy ?? evaluation?.rmse ?? null;
}

// Returns whether the number is a share of right answers; false: an error.
export function isShare({holdout, evaluation}) {
  return holdout ? holdout.metric === 'accuracy' : evaluation?.accuracy != null;
}

export function interval({metric, low, high}) {
  return `${shown(metric, low)} to ${shown(metric, high)}`;
}

export function score({holdout, evaluation}) {
  if (holdout) return html`<span><b>${shown(holdout.metric, holdout.value)}</b> <small>${interval(holdout)}, on the holdout</small></span>`;
  return evaluation ? html`<span>${quality(evaluation)} <small>on public data</small></span>` : none;
}

export const scoreColumn = {name: 'Quality', number: true, of: ({metrics}) => figure(metrics), cell: ({metrics}) => score(metrics)};
