/**
 * Paths that lead to one operation here and might lead to another one at an upstream: servers decode slashes, collapse
 * double ones, drop `;…` and resolve dots, each in its own way (docs/decisions.md#matched-is-sent).
 */
import type { Router } from './router.ts';

/** Parts that servers may read in several ways. */
const AMBIGUOUS = /%(?:2f|5c|25|2e|3b)|\/\/|;|\/\./i;

/** Readings of one path; one that has more is refused, so that looking at them costs no more. */
const MOST_READINGS = 24;
/** How often encoded slashes and percent signs are decoded one layer at a time. */
const MOST_LAYERS = 2;

/** Changes that servers make to a path, in any order. */
const steps: readonly ((path: string) => string)[] = [
  (path) => (path.includes(';') ? path.replaceAll(/;[^/]*/g, '') : path),
  (path) => (path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path),
  withoutDots,
];
/** Servers with such a step read `/admin/` as `/admin`. */
const withoutSlash = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

/**
 * Reports whether a reading of the path leads to an operation other than `operation`, which it has as it is, or there
 * are too many readings to tell. A slash at the end counts as one reading more, unless the operation's path template
 * ends with it.
 */
export function readsAsAnother<T>(
  router: Router<T>,
  { method, path }: { readonly method: string; readonly path: string },
  operation: T,
  template: string,
): boolean {
  const isSlashAdded = path.endsWith('/') && !template.endsWith('/');
  if (!isSlashAdded && !AMBIGUOUS.test(path)) return false;
  const readings = new Map([[path, 0]]);
  for (const [reading, layers] of readings) {
    const add = (next: string, decoded: number) => {
      // One that is reached in two ways counts with the fewer layers, from which more can follow.
      if (decoded < (readings.get(next) ?? Number.POSITIVE_INFINITY)) readings.set(next, decoded);
    };
    for (const step of steps) add(step(reading), layers);
    if (!template.endsWith('/')) add(withoutSlash(reading), layers);
    if (reading.includes('%')) {
      if (layers < MOST_LAYERS) add(decodeOnce(reading), layers + 1);
      add(decodeAll(reading), MOST_LAYERS);
    }
    if (readings.size > MOST_READINGS) return true;
    if (reading === path) continue;
    const { value } = router.find(method, reading);
    if (value !== null && value !== operation) return true;
  }
  return false;
}

/** Every other code is a slash. */
const DECODED: Readonly<Record<string, string>> = { 25: '%', '3b': ';' };

function decodeOnce(path: string): string {
  return path.replaceAll(/%(2f|5c|25|3b)/gi, (_, code: string) => DECODED[code.toLowerCase()] ?? '/');
}

/** Decodes as often as the path changes: `%25252F` is a slash. */
function decodeAll(path: string): string {
  return path
    .replaceAll(/%(?:25)*(2f|5c)/gi, '/')
    .replaceAll(/%(?:25)*3b/gi, ';')
    .replaceAll(/%(?:25)+/g, '%');
}

/** RFC 3986, 5.2.4, with dots that are percent-encoded. */
function withoutDots(path: string): string {
  if (!path.includes('.') && !/%2e/i.test(path)) return path;
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  segments.forEach((segment, i) => {
    const dots = segment.length <= 6 ? segment.replaceAll(/%2e/gi, '.') : segment;
    if (dots === '..') kept.pop();
    if (dots !== '.' && dots !== '..') kept.push(segment);
    else if (i === segments.length - 1) kept.push('');
  });
  return `/${kept.join('/')}`;
}
