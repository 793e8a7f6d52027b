/** Fetches the content of an ApiSpec or PluginRef from a URL: only the file with the requested sha256. */
import { hash } from 'node:crypto';
import { type HttpAnswer, HttpCallError, type HttpClient } from '@gw/gateway/egress';
import type { Secret } from '../api/resources.ts';
import { refusalToSend } from '../secrets/hosts.ts';
import { checksumIn } from './checksum.ts';
import { filesOfFile, MAX_BYTES, sizeOf } from './content.ts';
import { secretValue } from './secret-value.ts';
import { signatureText } from './signature.ts';
import { type Fetched, type FetchedSource, SourceError, type SourceOwner, type UrlRequest } from './source.ts';

export interface FetchUrlWith {
  /** Client behind the egress guard; `plain` may use `http:`. */
  readonly client: HttpClient;
  readonly plain: HttpClient;
  /** Hosts, with the port if it is not 80, that may be fetched from over `http:`. */
  readonly plainHosts: ReadonlySet<string>;
  /** Returns a Secret of the namespace. Rejects with SourceError if it does not exist. */
  secret(namespace: string, name: string): Promise<Secret>;
}

/**
 * Returns the `Authorization` for a URL; throws SourceError if the Secret may not be sent there
 * (docs/decisions.md#secret-names-hosts).
 */
type AuthorizationFor = (url: string) => string | undefined;

const TIMEOUT_MS = 60_000;
const REDIRECTS = 5;
const MAX_TEXT = 64 << 10;

/** `before`: the result of the last fetch. Rejects with SourceError. */
export async function fetchUrl(
  deps: FetchUrlWith,
  owner: SourceOwner,
  request: UrlRequest,
  before: FetchedSource | undefined,
): Promise<FetchedSource> {
  for (const url of [request.url, request.sha256Url, request.signatureUrl]) if (url !== undefined) urlOf(url);
  const authorization = await authorizationOf(deps, owner, request);
  const get = (url: string, more: GetOptions) => getFile(deps, url, { ...more, authorization: authorization(url) });
  const checksum = request.sha256Url ? await fetchChecksum(get, request.sha256Url, request.url, before) : undefined;
  const wanted = checksum?.sha256 ?? request.sha256 ?? '';
  const content =
    before?.content.digest === wanted ? before.content : await fetchContent(get, owner, request.url, wanted);
  const signature = request.signatureUrl ? await fetchSignature(get, request.signatureUrl) : {};
  return {
    content,
    fetchedAt: before?.content === content ? before.fetchedAt : new Date(),
    ...signature,
    // A signature may be added later than the content.
    final: request.sha256Url === undefined && !('unsigned' in signature),
    ...(checksum?.etag ? { checksum: { etag: checksum.etag, sha256: wanted } } : {}),
  };
}

interface GetOptions {
  readonly etag?: string | undefined;
  readonly maxBytes: number;
}

type Get = (url: string, options: GetOptions) => Promise<HttpAnswer>;

async function fetchContent(get: Get, owner: SourceOwner, url: string, wanted: string): Promise<Fetched> {
  const answer = await get(url, { maxBytes: MAX_BYTES });
  if (answer.status !== 200) throw statusError(url, answer.status);
  const has = hash('sha256', answer.body, 'hex');
  if (has !== wanted) {
    throw new SourceError('SourceInvalid', `${shown(url)} has sha256 ${has}, but ${wanted} is required`);
  }
  const files = await filesOfFile(owner, fileName(url), answer.body).catch((error: unknown) => {
    throw error instanceof SourceError ? new SourceError(error.reason, `${shown(url)}: ${error.message}`) : error;
  });
  return { digest: has, files, file: answer.body, size: sizeOf(files, answer.body) };
}

async function fetchChecksum(
  get: Get,
  sha256Url: string,
  url: string,
  before: FetchedSource | undefined,
): Promise<{ readonly sha256: string; readonly etag?: string | undefined }> {
  const answer = await get(sha256Url, { etag: before?.checksum?.etag, maxBytes: MAX_TEXT });
  if (answer.status === 304 && before?.checksum) return before.checksum;
  if (answer.status !== 200) throw statusError(sha256Url, answer.status);
  const sha256 = checksumIn(answer.body.toString('utf8'), fileName(url));
  if (sha256 === undefined) {
    const form = `a line "SHA256  ${fileName(url)}", as sha256sum writes it`;
    throw new SourceError('SourceInvalid', `${shown(sha256Url)} does not hold ${form}`);
  }
  return { sha256, etag: headerOf(answer, 'etag') };
}

async function fetchSignature(get: Get, signatureUrl: string): Promise<Pick<FetchedSource, 'signature' | 'unsigned'>> {
  const answer = await get(signatureUrl, { maxBytes: MAX_TEXT });
  if (answer.status === 404 || answer.status === 410) {
    return { unsigned: `there is no signature at ${shown(signatureUrl)} (${answer.status})` };
  }
  if (answer.status !== 200) throw statusError(signatureUrl, answer.status);
  return { signature: signatureText(answer.body) };
}

/**
 * Reads the Authorization for the server of the source; the servers of its checksum and signature get it too if the
 * Secret names them.
 */
async function authorizationOf(
  { secret: read }: FetchUrlWith,
  { namespace }: SourceOwner,
  { url, authorization: from }: UrlRequest,
): Promise<AuthorizationFor> {
  if (!from) return () => undefined;
  const secret = await read(namespace, from.name);
  const refusal = refusalToSend(secret.metadata, new URL(url));
  if (refusal !== undefined) throw new SourceError('CredentialNotGranted', refusal);
  const value = secretValue(secret, from.key)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (!/^[\x20-\x7e]+$/.test(value)) {
    const what = `key "${from.key}" of Secret "${from.name}"`;
    throw new SourceError('SourceInvalid', `${what} is not a valid header value: use "Bearer TOKEN" or similar`);
  }
  return (to) => (refusalToSend(secret.metadata, new URL(to)) === undefined ? value : undefined);
}

async function getFile(
  { client, plain, plainHosts }: FetchUrlWith,
  url: string,
  { authorization, etag, maxBytes }: GetOptions & { readonly authorization: string | undefined },
): Promise<HttpAnswer> {
  const { protocol, host } = urlOf(url);
  if (protocol === 'http:' && !plainHosts.has(host)) {
    const hint = `the operator's --plain-http-source ${host} would allow it`;
    throw new SourceError('InvalidSpec', `${shown(url)} is plaintext: use https:// (${hint})`);
  }
  const headers = ['accept', '*/*', 'accept-encoding', 'identity', 'user-agent', 'gw-operator'];
  if (authorization !== undefined) headers.push('authorization', authorization);
  if (etag !== undefined) headers.push('if-none-match', etag);
  try {
    const by = protocol === 'http:' ? plain : client;
    return await by.call({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, maxBytes, redirects: REDIRECTS });
  } catch (error) {
    if (!(error instanceof HttpCallError)) throw error;
    const { failure, message } = error;
    const said = message.startsWith('http') ? message : `${shown(url)}: ${message}`;
    if (failure === 'too-large') throw new SourceError('SourceInvalid', said, { cause: error });
    // The gateway's own advice names the option, which here is the operator's.
    const hint = failure === 'refused' && said.includes('--egress-allow') ? ' of the operator' : '';
    throw new SourceError('SourceUnavailable', `${said}${hint}`, { cause: error });
  }
}

/** Throws SourceError for text that is not a fetchable URL. */
function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new SourceError('InvalidSpec', 'the URL is not a valid URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new SourceError('InvalidSpec', `${shown(text)} holds credentials: put them in the Secret of authorization`);
  }
  if (text.includes('#')) throw new SourceError('InvalidSpec', `${shown(text)} has a fragment, which no server sees`);
  return url;
}

function statusError(url: string, status: number): SourceError {
  const hint = status === 401 || status === 403 ? ': see authorization' : '';
  return new SourceError('SourceUnavailable', `${shown(url)} answers ${status}${hint}`);
}

/** Tokens of signed URLs travel in the query. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Returns the last segment of the path. */
function fileName(url: string): string {
  const segment = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function headerOf({ headers }: HttpAnswer, name: string): string | undefined {
  const at = headers.findIndex((each, i) => i % 2 === 0 && each === name);
  return at < 0 ? undefined : headers[at + 1];
}
