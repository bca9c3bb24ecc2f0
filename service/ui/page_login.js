// Login: takes a key once, and gets this browser a cookie for it.
import {html, nothing} from './lit-html.js';
import {trouble} from './notice.js';
import {logIn} from './who.js';

export function open(view) {
  let problem = null;
  let busy = false;

  async function submit(event) {
    event.preventDefault();
    const field = event.target.elements.key;
    busy = true;
    draw();
    try {
      await logIn(field.value.trim());
      field.value = '';
      const next = view.query.get('next') ?? '';
      view.go(next.startsWith('/ui/') ? next : '/ui/', {replace: true});
    } catch (error) {
      problem = error;
      busy = false;
      draw();
      field.select();
      view.say(error.message);
    }
  }

  const draw = () => view.draw(html`<div class="narrow"><h1>Log in</h1>
    <section class="card"><p>This daemon asks for a key. Whoever runs it, or owns your project, can make you one; it begins with <code>dpk_</code>.</p>
    <form @submit=${submit}><div class="field"><label for="key">Key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false" required autofocus
        aria-invalid=${problem ? 'true' : nothing}>
      <small>It is exchanged for a cookie that scripts cannot read, and not kept by this page. You are logged out after an hour without use, and after twelve hours.</small></div>
      <button class="button accent" ?disabled=${busy}>Log in</button></form>${trouble(problem)}</section></div>`);

  view.title('Log in · epsilond');
  draw();
  document.getElementById('key')?.focus();
}
