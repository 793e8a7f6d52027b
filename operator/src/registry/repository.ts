/** One repository of a registry. All content is checked against its digest and size. */
import { createHash } from 'node:crypto';
import { nextLink } from '@gw/control/client';
import type { HttpAnswer, HttpCall } from '@gw/gateway/egress';
import { isRecord } from '../kube/kube-object.ts';
import type { Actions, Authorization } from './authorization.ts';
import { RegistryError } from './error.ts';
import { type Call, MAX_BLOB_BYTES, patiently, retryAfterMs } from './http.ts';
import type { Descriptor, PulledManifest } from './manifest.ts';
import { MANIFESTS } from './media-types.ts';
import { DIGEST, formatReference, type Reference, type RepositoryName } from './reference.ts';

/** Limit in the specification. */
const MAX_MANIFEST_BYTES = 4 << 20;
/** Limit of lists of tags, and of bodies of errors and challenges. */
const MAX_OTHER_BYTES = 1 << 20;
const MAX_TAGS = 10_000;
const TIMEOUT_MS = 30_000;
/** The slowest registry that is waited for: bytes in a millisecond. */
const SLOWEST = 128;
const REDIRECTS = 5;

export interface RepositoryOptions {
  readonly name: RepositoryName;
  /** `https://HOST/v2/REPOSITORY/`. */
  readonly base: URL;
  readonly authorization: Authorization;
  readonly call: Call;
  /** Ends all patience. */
  readonly closed: AbortSignal;
}

interface RegistryCall extends Partial<HttpCall> {
  readonly actions: Actions;
  /** Statuses that are answers, not errors. */
  readonly takes: readonly number[];
}

/** Every method rejects with RegistryError; temporary failures are retried for some seconds. */
export class Repository {
  readonly #options: RepositoryOptions;

  constructor(options: RepositoryOptions) {
    this.#options = options;
  }

  /** Fetches a manifest by tag or digest. Throws `not-found` if it does not exist. */
  async manifest(tagOrDigest: string): Promise<PulledManifest> {
    const answer = await this.#patiently(() =>
      this.#request(`manifests/${tagOrDigest}`, {
        actions: 'pull',
        takes: [200],
        headers: ['accept', MANIFESTS.join(', ')],
        maxBytes: MAX_MANIFEST_BYTES,
      }),
    );
    const digest = digestOf(answer.body);
    if (DIGEST.test(tagOrDigest) && digest !== tagOrDigest) {
      throw this.#error('corrupt', `returned another manifest (${digest}) for`, tagOrDigest);
    }
    const mediaType = (header(answer, 'content-type') ?? '').split(';', 1)[0] ?? '';
    return { digest, mediaType: mediaType.trim(), bytes: answer.body };
  }

  /** Returns the current digest of a tag or digest, undefined if it does not exist: cheaper than a pull. */
  async resolve(tagOrDigest: string): Promise<string | undefined> {
    const answer = await this.#patiently(() =>
      this.#request(`manifests/${tagOrDigest}`, {
        method: 'HEAD',
        actions: 'pull',
        takes: [200, 404],
        headers: ['accept', MANIFESTS.join(', ')],
      }),
    );
    if (answer.status === 404) return undefined;
    const digest = header(answer, 'docker-content-digest');
    // The header is recommended, but optional.
    return digest !== undefined && DIGEST.test(digest) ? digest : (await this.manifest(tagOrDigest)).digest;
  }

  /** Fetches the blob of a descriptor; throws `too-large` past `maxBytes`, before it reads anything. */
  async blob({ digest, size }: Descriptor, maxBytes: number): Promise<Buffer> {
    if (size > maxBytes) throw this.#error('too-large', `has ${size} bytes, more than ${maxBytes}, in`, digest);
    const { body } = await this.#patiently(() =>
      this.#request(`blobs/${digest}`, {
        actions: 'pull',
        takes: [200],
        maxBytes: Math.max(size, MAX_OTHER_BYTES),
        timeoutMs: timeFor(size),
      }),
    );
    if (body.length !== size || digestOf(body) !== digest) {
      throw this.#error('corrupt', `returned other content (${body.length} of ${size} bytes) for`, digest);
    }
    return body;
  }

  async hasBlob(digest: string): Promise<boolean> {
    return (await this.#patiently(() => this.#headBlob(digest, 'pull'))).status === 200;
  }

  /** Uploads bytes unless the registry has them; returns their digest and size. */
  async pushBlob(bytes: Uint8Array): Promise<{ readonly digest: string; readonly size: number }> {
    if (bytes.length > MAX_BLOB_BYTES) {
      throw this.#error('too-large', `was not sent ${bytes.length} bytes, more than ${MAX_BLOB_BYTES}, for`, 'a layer');
    }
    const digest = digestOf(bytes);
    await this.#patiently(async () => {
      if ((await this.#headBlob(digest, 'pull,push')).status === 200) return;
      const started = await this.#request('blobs/uploads/', { method: 'POST', actions: 'pull,push', takes: [202] });
      const location = header(started, 'location');
      if (location === undefined || !URL.canParse(location, this.#options.base)) {
        throw this.#error('failed', 'returned no upload location for', digest);
      }
      const url = new URL(location, this.#options.base);
      url.searchParams.set('digest', digest);
      await this.#request(url, {
        method: 'PUT',
        actions: 'pull,push',
        takes: [201, 204],
        headers: ['content-type', 'application/octet-stream'],
        body: bytes,
        timeoutMs: timeFor(bytes.length),
      });
    });
    return { digest, size: bytes.length };
  }

  /** Pushes under its digest and, if given, a tag. Returns the digest. */
  async pushManifest(bytes: Uint8Array, mediaType: string, tag?: string): Promise<string> {
    const digest = digestOf(bytes);
    const answer = await this.#patiently(() =>
      this.#request(`manifests/${tag ?? digest}`, {
        method: 'PUT',
        actions: 'pull,push',
        takes: [200, 201],
        headers: ['content-type', mediaType],
        body: bytes,
      }),
    );
    const stored = header(answer, 'docker-content-digest');
    if (stored !== undefined && stored !== digest) throw this.#error('corrupt', `stored ${stored} instead of`, digest);
    return digest;
  }

  /**
   * Deletes by tag or digest; returns false if it did not exist. Throws `unsupported` if the registry deletes nothing.
   */
  async deleteManifest(tagOrDigest: string): Promise<boolean> {
    const answer = await this.#patiently(() =>
      this.#request(`manifests/${tagOrDigest}`, { method: 'DELETE', actions: 'pull,delete', takes: [200, 202, 404] }),
    );
    return answer.status !== 404;
  }

  /** Returns all tags, up to 10,000, in the registry's order; empty if the repository does not exist. */
  async tags(): Promise<readonly string[]> {
    const tags: string[] = [];
    let next: URL | null = new URL('tags/list', this.#options.base);
    while (next && tags.length < MAX_TAGS) {
      const page: URL = next;
      const answer = await this.#patiently(() => this.#request(page, { actions: 'pull', takes: [200, 404] }));
      if (answer.status === 404) return tags;
      const found = tagsOf(answer.body);
      if (!found) throw this.#error('corrupt', 'did not return a list of', 'tags');
      tags.push(...found);
      next = found.length > 0 ? nextLink(header(answer, 'link'), page) : null;
    }
    return tags.slice(0, MAX_TAGS);
  }

  #patiently<T>(operation: () => Promise<T>): Promise<T> {
    return patiently(this.#options.closed, operation);
  }

  #headBlob(digest: string, actions: Actions): Promise<HttpAnswer> {
    return this.#request(`blobs/${digest}`, { method: 'HEAD', actions, takes: [200, 404] });
  }

  async #request(path: string | URL, { actions, takes, ...given }: RegistryCall): Promise<HttpAnswer> {
    const { base, authorization, call } = this.#options;
    const url = new URL(path, base);
    const send = (authorize: string | undefined) =>
      call({
        method: 'GET',
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_OTHER_BYTES,
        redirects: REDIRECTS,
        ...given,
        url: url.href,
        headers: [...(given.headers ?? []), ...(authorize === undefined ? [] : ['authorization', authorize])],
      });
    // The URL of an upload to another host carries its own authorization.
    const ours = url.origin === base.origin;
    let answer = await send(ours ? authorization.current(actions) : undefined);
    const challenge = answer.status === 401 && ours ? header(answer, 'www-authenticate') : undefined;
    if (challenge !== undefined) answer = await send(await authorization.answer(actions, challenge));
    if (takes.includes(answer.status)) return answer;
    throw this.#refusal(answer, url);
  }

  #refusal(answer: HttpAnswer, url: URL): RegistryError {
    const { status } = answer;
    const code = errorCodeOf(answer.body);
    const what = `answers ${status}${code ? ` ${code}` : ''} for`;
    const name = url.pathname.split('/').at(-1) ?? '';
    if (status === 401 || status === 403) {
      return this.#error('unauthorized', what, name, ': check the credentials and their permissions');
    }
    if (status === 404) return this.#error('not-found', what, name);
    if (status === 405 || code === 'UNSUPPORTED') return this.#error('unsupported', what, name);
    if (status === 429 || status >= 500) {
      const wait = retryAfterMs(header(answer, 'retry-after'));
      return this.#error('unavailable', what, name, '', wait);
    }
    return this.#error('failed', what, name);
  }

  #error(
    failure: RegistryError['failure'],
    what: string,
    name: string,
    hint = '',
    wait: number | undefined = undefined,
  ): RegistryError {
    const reference: Reference = DIGEST.test(name) ? { ...this.#options.name, digest: name } : this.#options.name;
    const of = DIGEST.test(name) ? '' : `${name} of `;
    return new RegistryError(
      failure,
      `${this.#options.name.registry} ${what} ${of}${formatReference(reference)}${hint}`,
      wait === undefined ? {} : { retryAfterMs: wait },
    );
  }
}

function timeFor(bytes: number): number {
  return TIMEOUT_MS + Math.ceil(bytes / SLOWEST);
}

/** `sha256:<hex>`. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function header({ headers }: HttpAnswer, name: string): string | undefined {
  const at = headers.findIndex((each, i) => i % 2 === 0 && each === name);
  return at < 0 ? undefined : headers[at + 1];
}

/** Codes of the distribution specification, section "Error codes". */
const ERROR_CODES: ReadonlySet<string> = new Set([
  'BLOB_UNKNOWN',
  'BLOB_UPLOAD_INVALID',
  'BLOB_UPLOAD_UNKNOWN',
  'DENIED',
  'DIGEST_INVALID',
  'MANIFEST_BLOB_UNKNOWN',
  'MANIFEST_INVALID',
  'MANIFEST_UNKNOWN',
  'NAME_INVALID',
  'NAME_UNKNOWN',
  'SIZE_INVALID',
  'TOOMANYREQUESTS',
  'UNAUTHORIZED',
  'UNSUPPORTED',
]);

/**
 * Returns the code of the first error in an answer; the rest of the answer is not repeated, since users name registries
 * (docs/decisions.md#tenant-addresses).
 */
function errorCodeOf(body: Uint8Array): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
  const first: unknown = isRecord(parsed) && Array.isArray(parsed['errors']) ? parsed['errors'][0] : undefined;
  const code = isRecord(first) ? first['code'] : undefined;
  return typeof code === 'string' && ERROR_CODES.has(code) ? code : undefined;
}

function tagsOf(body: Uint8Array): readonly string[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
  const tags = isRecord(parsed) ? (parsed['tags'] ?? []) : undefined;
  return Array.isArray(tags) && tags.every((tag) => typeof tag === 'string') ? tags : undefined;
}
