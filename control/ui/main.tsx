/** The console: begins in the page that control/src/ui serves. */
import { render } from 'preact';
import { App } from './app.tsx';
import { listenForShortcuts } from './shell/shortcuts.ts';

listenForShortcuts();
const root = document.getElementById('console');
if (root) render(<App />, root);
