import { stringify } from 'yaml';

/** For programs as JSON or YAML, for people as `text` says. */
export function formatted(format: string, value: unknown, text: () => string): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (format === 'yaml') return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
  return text();
}
