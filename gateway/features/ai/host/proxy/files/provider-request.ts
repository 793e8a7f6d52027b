/**
 * A client's request about files or batches in the provider's form: with the provider's ids, and without the client's
 * other data.
 */

import { type BodyStream, type Exchange, get, type HeaderList, headerOf } from '../../../../kit.ts';
import { invalid, refusal } from '../conversation/refusal.ts';
import { parsedRequest } from '../request/parsed-request.ts';
import { bodyWith } from '../surfaces/request-body.ts';
import type { FilesSurface, OwnedIds } from '../targets/bound-ids.ts';
import type { FilesOperation } from './files-request.ts';

export interface ProviderRequest {
  readonly method: string;
  /** Path below the base URL and its version. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | BodyStream | null;
  /** The ids in it: the client's by the provider's, which must not see each other's. */
  readonly ids: ReadonlyMap<string, string>;
}

/** An operation of a provider, and the id that its path has. */
export interface FilesCall {
  readonly operation: Exclude<FilesOperation, 'list'>;
  readonly surface: FilesSurface;
  readonly id: string | null;
}

const NO_BODY = new Uint8Array(0);
/** A boundary of another form would not be one for the provider either (RFC 2046, section 5.1.1). */
const FORM = /^multipart\/form-data\s*;.*\bboundary=/i;
/** All members of a batch. Others could hold an unchecked id. */
const MEMBERS: readonly string[] = [
  ...['input_file_id', 'endpoint', 'completion_window', 'metadata', 'output_expires_after'],
];

/** Throws AiRefusal. */
export function providerRequest(exchange: Exchange, call: FilesCall, ids: OwnedIds): ProviderRequest {
  switch (call.operation) {
    case 'upload':
      return upload(exchange);
    case 'create':
      return create(exchange, ids);
    default:
      return about(call, ids);
  }
}

function upload(exchange: Exchange): ProviderRequest {
  const type = headerOf(exchange.headers, 'content-type') ?? '';
  if (!FORM.test(type)) {
    const detail = 'A file is uploaded as multipart/form-data with a boundary.';
    throw refusal('unsupported-media-type', 'invalid_request', detail);
  }
  const body = exchange.body ?? exchange.bodyStream ?? NO_BODY;
  return { method: 'POST', path: '/files', headers: ['content-type', type], body, ids: new Map() };
}

function create(exchange: Exchange, ids: OwnedIds): ProviderRequest {
  const parsed = parsedRequest(exchange);
  const other = Object.keys(parsed).find((name) => !MEMBERS.includes(name));
  if (other !== undefined) {
    const param = other.length > 128 ? `${other.slice(0, 128)}…` : other;
    throw refusal('validation-failed', 'invalid_request', `${JSON.stringify(param)} is not a member of a batch.`, {
      param,
    });
  }
  const bound = get(parsed, 'input_file_id');
  if (typeof bound !== 'string') throw invalid('input_file_id', 'the id of a file');
  const id = own('files', bound, ids, 'input_file_id');
  const body = bodyWith(exchange.body ?? NO_BODY, parsed, { input_file_id: id });
  const headers = ['content-type', 'application/json'];
  return { method: 'POST', path: '/batches', headers, body, ids: new Map([[id, bound]]) };
}

function about({ operation, surface, id: sent }: FilesCall, ids: OwnedIds): ProviderRequest {
  const bound = decode(sent ?? '');
  const id = own(surface, bound, ids, 'id');
  const method = operation === 'delete' ? 'DELETE' : operation === 'cancel' ? 'POST' : 'GET';
  const end = operation === 'content' || operation === 'cancel' ? `/${operation}` : '';
  return { method, path: `/${surface}/${id}${end}`, headers: [], body: null, ids: new Map([[id, bound]]) };
}

function own(surface: FilesSurface, bound: string, ids: OwnedIds, param: string): string {
  const id = ids.unbind(surface, bound);
  if (id !== null) return id;
  const [name, code] = surface === 'files' ? ['file', 'file_not_found'] : ['batch', 'batch_not_found'];
  throw refusal('not-found', code, `You have no ${name} with this id.`, { param });
}

/** Returns an empty string, which no id equals, if the encoding is malformed. */
function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return '';
  }
}
