/** Light or dark: as the system has it, until someone chooses. */
import { effect, signal } from '@preact/signals';

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

export function ThemeButton() {
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
