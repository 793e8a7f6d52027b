/** The console: begins in the page that control/src/http/console.ts serves. */
import { render } from 'preact';
import { App } from './app.tsx';

listenForShortcuts();
const root = document.getElementById('console');
if (root) render(<App />, root);

/** Keys that hold on every page: `/` goes to the filter. */
function listenForShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const filter = document.querySelector<HTMLInputElement>('[data-filter]');
    if (!filter || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    filter.focus();
    filter.select();
  });
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}
