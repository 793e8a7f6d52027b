/** Header of every page: navigation and the signed-in account. */

import { effect, signal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { identity, may, signOut } from '../api/session.ts';
import { mayDropDrafts } from '../editor/drafts.ts';

export function Header() {
  const who = identity.value;
  return (
    <header class="top">
      <a class="brand" href="/ui" aria-label="gw console: projects">
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <path d="M7 11h9a5 5 0 0 1 0 10H7M13 7v4m0 10v4M25 16h-4" />
        </svg>
        <span>gw</span>
      </a>
      {who && (
        <nav aria-label="Console">
          <ul>
            <Tab href="/ui" label="Projects" also="/ui/projects" />
            <Tab href="/ui/plugins" label="Plugins" also="/ui/plugins/" />
            {may('admin') && <Tab href="/ui/tokens" label="Tokens" />}
            {may('admin') && <Tab href="/ui/audit" label="Audit" />}
          </ul>
        </nav>
      )}
      <div class="top-end">
        <a href="/docs" class="docs" target="_blank" rel="noreferrer">
          API
        </a>
        <ThemeButton />
        {who && (
          <>
            <span class="who" title={`${who.actor}, ${who.role}`}>
              {who.actor}
              {who.actor !== who.role && <span class="muted"> {who.role}</span>}
            </span>
            <button type="button" class="button small" onClick={() => mayDropDrafts() && signOut()}>
              Sign out
            </button>
          </>
        )}
      </div>
    </header>
  );
}

interface TabProps {
  readonly href: string;
  readonly label: string;
  /** Paths below this one belong to it, too. */
  readonly also?: string;
}

function Tab({ href, label, also }: TabProps) {
  const { path } = useLocation();
  const current = path === href || (also !== undefined && path.startsWith(also));
  return (
    <li>
      <a class="nav-link" href={href} aria-current={current ? 'page' : undefined}>
        {label}
      </a>
    </li>
  );
}

/** Light or dark: as the system has it, until someone chooses. */
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'gw-theme';

const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'system');

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') {
    delete dataset['theme'];
    localStorage.removeItem(KEY);
  } else {
    dataset['theme'] = theme.value;
    localStorage.setItem(KEY, theme.value);
  }
});

const ICONS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };

function ThemeButton() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Theme: ${theme.value}. Change to ${next}.`}
      title={`Theme: ${theme.value}`}
      onClick={() => {
        theme.value = next;
      }}
    >
      <span aria-hidden="true">{ICONS[theme.value]}</span>
    </button>
  );
}
