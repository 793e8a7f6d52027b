/** `/reference/` of the admin port in development: the API's own reference, with requests through the gateway. */
import { REFERENCE_FILES, REFERENCE_HEADERS, type ReferenceListing, referenceFile } from '../api-reference/files.ts';
import type { Artifact } from '../artifact/index.ts';
import { problem } from '../problems.ts';
import { SpecLibrary } from '../reserved/spec-library.ts';
import { isObject } from '../spec/json.ts';
import { messageOf } from '../text/message-of.ts';
import { jsonPage, type Page, problemPage } from './page.ts';
import { REFERENCE_PATH } from './reference-paths.ts';

const DOCUMENTS = 'documents/';
/** Path of requests, relative to the page. */
const TRY = 'try';

/** Documents by artifact; each is rendered once. */
const libraries = new WeakMap<Artifact, SpecLibrary>();

/**
 * Returns null if the page does not include the path. `gateway`: URL that requests of the page go to; null: it sends
 * none.
 */
export async function referencePage(
  path: string,
  artifact: Artifact | null,
  gateway: string | null,
): Promise<Page | null> {
  if (path === REFERENCE_PATH.slice(0, -1)) {
    return { status: 302, type: 'text/plain', body: '', headers: ['location', REFERENCE_PATH] };
  }
  if (!path.startsWith(REFERENCE_PATH)) return null;
  const name = path.slice(REFERENCE_PATH.length);
  if (name === 'documents.json') return withHeaders(jsonPage(200, listing(artifact, gateway)));
  if (name.startsWith(DOCUMENTS)) return document(name.slice(DOCUMENTS.length), artifact);
  if (!REFERENCE_FILES.includes(name)) return null;
  try {
    const file = await referenceFile(name);
    return file && { status: 200, type: file.type, body: file.body, headers: REFERENCE_HEADERS };
  } catch (error) {
    return problemPage(problem('route-not-found', messageOf(error)));
  }
}

function withHeaders(page: Page): Page {
  return { ...page, headers: REFERENCE_HEADERS };
}

function listing(artifact: Artifact | null, gateway: string | null): ReferenceListing {
  const specs = (artifact?.manifest.source_specs ?? []).filter(({ type }) => type === 'openapi');
  const documents = specs.map(({ file }) => ({ name: file, url: `${DOCUMENTS}${encodeURIComponent(file)}` }));
  return {
    title: 'API reference · gw dev',
    documents,
    server: gateway === null ? null : { url: gateway, through: TRY },
  };
}

/** Returns a spec, or a file that specs refer to, as JSON. */
async function document(encoded: string, artifact: Artifact | null): Promise<Page | null> {
  if (artifact === null) return null;
  const library = libraries.get(artifact) ?? new SpecLibrary(artifact);
  libraries.set(artifact, library);
  const rendering = library.file(decoded(encoded), 'json');
  if (rendering === undefined) return null;
  const { body } = await rendering;
  return withHeaders(jsonPage(200, withoutServers(JSON.parse(Buffer.from(body).toString()))));
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * Removes the servers of the root, path items, operations and links; keeps examples, schemas and extensions as they
 * are.
 */
function withoutServers(document: unknown): unknown {
  if (!isObject(document)) return document;
  const { servers: _, paths, webhooks, ...rest } = document;
  return {
    ...rest,
    ...(paths === undefined ? {} : { paths: items(paths) }),
    ...(webhooks === undefined ? {} : { webhooks: items(webhooks) }),
  };
}

function items(value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([path, item]) => [path, withoutOwn(item, true)]))
    : value;
}

/** Removes the servers of a path item and its operations, or of one operation. */
function withoutOwn(value: unknown, isItem: boolean): unknown {
  if (!isObject(value)) return value;
  const { servers: _, ...rest } = value;
  if (!isItem) return rest;
  return Object.fromEntries(
    Object.entries(rest).map(([name, each]) => [name, name === 'parameters' ? each : withoutOwn(each, false)]),
  );
}
