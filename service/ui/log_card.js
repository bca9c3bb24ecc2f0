// The log of a job: what others could see of the job, and when. It is fetched when the card is opened.
import {html, nothing} from './lit-html.js';
import {get} from './api.js';
import {reason} from './badge.js';
import {count, none, quality} from './format.js';
import {trouble} from './notice.js';

const LINES = 50;

function words(line) {
  if (line.event === 'authorised') return `${count(line.authorised_steps)} steps authorised`;
  if (line.event === 'evaluation') return `${quality(line.evaluation)} on public data, at step ${count(line.evaluation.step)}`;
  if (line.event === 'released') return `measured through noise at step ${count(line.released.step)}`;
  return `${line.state.toLowerCase()}${line.state_reason ? `, ${reason(line.state_reason)}` : ''}`;
}

// Returns a function that makes the card of the job at path. draw() redraws the page.
export function logCard(path, draw) {
  let lines = null;
  let problem = null;
  const open = async ({target}) => {
    if (!target.open) return;
    try {
      lines = (await get(`${path}/logs?order=desc&page_size=${LINES}`)).log;
      problem = null;
    } catch (error) {
      problem = error;
    }
    draw();
  };
  return () => html`<section class="card"><h2>Log</h2><details @toggle=${open}><summary>Events of this job</summary>
    ${trouble(problem)}${lines ? html`<ol class="log">${lines.map((line) => html`<li><small>${line.time ? line.time.slice(11, 19) : none}</small> ${words(line)}</li>`)}</ol>
    <p class="quiet">Times are UTC. ${lines.length === LINES ? html`The newest ${LINES}; <a href="${path}/logs?page_size=1000">all of it</a>.` : nothing}</p>` : nothing}</details></section>`;
}
