// A budget as a bar: the spent part solid, the held part hatched, a requested part in another colour, the rest pale.
import {html, svg, nothing} from './lit-html.js';
import {percent} from './format.js';

function part(kind, from, width) {
  if (!(width > 0)) return nothing;
  const fill = kind === 'held' ? 'url(#hatch)' : nothing;
  return svg`<rect class=${kind} fill=${fill} x=${`${100 * from}%`} width=${`${100 * width}%`} height="100%"></rect>
    ${from > 0 ? svg`<rect class="seam" x=${`${100 * from}%`} width="1" height="100%"></rect>` : nothing}`;
}

const SCARCE = 0.8;
const USED_UP = 0.995; // shown as 100 %

// Says how far a budget is used, as [class of the bar, words], from 80 % on.
export function scarcity({spent = 0, held = 0}) {
  const used = spent + held;
  return used >= USED_UP ? ['used-up', 'used up'] : used >= SCARCE ? ['scarce', 'nearly used up'] : ['spent', ''];
}

// Parts are shares of the capacity. The bar changes its colour when 80 % are used, and when all is. over: the job that asks for `asked` does not fit.
export function gauge({spent = 0, held = 0, asked = 0, over = false}, height = 10, label = null) {
  const end = Math.min(1, spent + held);
  const said = label ?? `${percent(spent)} spent, ${percent(held)} held, ${percent(Math.max(0, 1 - end))} left`;
  return html`<svg class="gauge" role="img" aria-label=${said} width="100%" height=${height}>
    <rect class="left" width="100%" height="100%"></rect>
    ${part(scarcity({spent, held})[0], 0, Math.min(1, spent))}${part('held', Math.min(1, spent), end - Math.min(1, spent))}
    ${part(over ? 'over' : 'asked', end, Math.min(asked, 1 - end))}</svg>`;
}

export function swatch(kind) {
  return html`<svg class="swatch" width="11" height="11" aria-hidden="true"><rect class=${kind}
    fill=${kind === 'held' ? 'url(#hatch)' : nothing} width="100%" height="100%" rx="2"></rect></svg>`;
}

// A progress bar.
export function bar(share, label) {
  return html`<svg class="gauge" role="img" aria-label=${label} width="100%" height="6">
    <rect class="left" width="100%" height="100%"></rect>
    <rect class="spent" width=${`${100 * share}%`} height="100%"></rect></svg>`;
}
