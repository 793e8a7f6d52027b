import { Option } from 'commander';
import { stringify } from 'yaml';

const FORMATS = ['text', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

export function outputOption(): Option {
  return new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text');
}

/** Formats as JSON or YAML for scripts, as `text` for people. */
export function formatted(format: Format, value: unknown, text: () => string): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (format === 'yaml') return stringify(value, { lineWidth: 0 });
  return text();
}

/** `5m`, `3h12m`, `2d`: as kubectl writes ages. */
export function age(timestamp: string | undefined, now = Date.now()): string {
  if (!timestamp) return '-';
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp)) / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 120) return `${minutes}m`;
  if (hours < 48) return `${hours}h`;
  return `${days}d`;
}

/** Returns the beginning of a hash: enough to tell two apart. */
export function shortHash(hash: string | undefined): string {
  return hash === undefined ? '-' : hash.replace('sha256:', '').slice(0, 12);
}
