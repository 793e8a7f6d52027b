/** `/inspector` of the admin port: a page that lists the tools of agents and calls them (docs/mcp.md#inspector). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HeaderList } from '../exchange.ts';
import { problem } from '../problems.ts';
import { type Page, problemPage } from './page.ts';

export const INSPECTOR_PATH = '/inspector';

/** The built page: in the source tree, or beside the bundle that contains this file. */
const FOLDER = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'dist', 'inspector')
  : join(import.meta.dirname, 'inspector');

const FILES: { readonly [path: string]: readonly [file: string, type: string] } = {
  [INSPECTOR_PATH]: ['index.html', 'text/html; charset=utf-8'],
  [`${INSPECTOR_PATH}/inspector.js`]: ['inspector.js', 'text/javascript; charset=utf-8'],
  [`${INSPECTOR_PATH}/inspector.css`]: ['inspector.css', 'text/css; charset=utf-8'],
};

/** Only the page's own resources and scripts: texts of tools and servers are untrusted. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: HeaderList = [
  ...['content-security-policy', POLICY, 'x-content-type-options', 'nosniff', 'x-frame-options', 'DENY'],
  ...['referrer-policy', 'no-referrer', 'cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
];

/** Returns null if the path is not one of its files. */
export async function inspectorPage(path: string): Promise<Page | null> {
  const found = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (found === undefined) return null;
  const [file, type] = found;
  try {
    return { status: 200, type, body: await readFile(join(FOLDER, file), 'utf8'), headers: HEADERS };
  } catch {
    return problemPage(problem('route-not-found', 'The inspector has not been built: run npm run build.'));
  }
}
