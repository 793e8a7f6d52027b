/**
 * The page of API references (`gateway/reference`): its files and their headers, for the admin port of `gw dev` and for
 * the control plane (docs/reference/cli.md#api-reference). Beside it is `documents.json`, which the server makes.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HeaderList } from '../exchange.ts';

/** Folder of the built page: in the source tree, or beside the bundle that includes this file. */
const FOLDER = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'dist', 'reference')
  : join(import.meta.dirname, 'reference');

/** The files that the page loads, by the names that follow its own path, which ends with a slash. */
const FILES: { readonly [name: string]: readonly [file: string, type: string] } = {
  '': ['index.html', 'text/html; charset=utf-8'],
  'reference.js': ['reference.js', 'text/javascript; charset=utf-8'],
  'reference.css': ['reference.css', 'text/css; charset=utf-8'],
  'scalar.js': ['scalar.js', 'text/javascript; charset=utf-8'],
};

export const REFERENCE_FILES: readonly string[] = Object.keys(FILES);

/** Content of `documents.json`. */
export interface ReferenceListing {
  readonly title: string;
  /** URLs are relative to the page. */
  readonly documents: readonly { readonly name: string; readonly url: string }[];
  /** The URL of the server, and the path from the page that passes requests on; null: the documents name the server. */
  readonly server: { readonly url: string; readonly through: string } | null;
}

/**
 * Allows the page's own scripts only, and no other origin, since documents are untrusted. Scalar adds its own styles.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const REFERENCE_HEADERS: HeaderList = [
  ...['content-security-policy', POLICY, 'x-content-type-options', 'nosniff', 'x-frame-options', 'DENY'],
  ...['referrer-policy', 'no-referrer', 'cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
];

export interface ReferenceFile {
  readonly type: string;
  readonly body: Buffer;
}

/** Resolves to null if the page has no such file. Rejects if the page has not been built. */
export async function referenceFile(name: string): Promise<ReferenceFile | null> {
  const found = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (found === undefined) return null;
  const [file, type] = found;
  try {
    return { type, body: await readFile(join(FOLDER, file)) };
  } catch (error) {
    throw new Error('The API reference has not been built: run npm run build.', { cause: error });
  }
}
