/** Prompts, resources and completion: requests that only upstreams answer (docs/mcp.md#upstream-prompts). */
import { get, isObject, type Obj } from '../spec/json.ts';
import type { McpQuestion } from './client/client.ts';
import { pageOf } from './pages.ts';
import { type Passed, withoutProtocolMeta } from './pass-on.ts';
import { INVALID_PARAMS, RpcError, type RpcRequest } from './protocol/json-rpc.ts';
import type { McpRequest } from './tool-methods.ts';
import { type Toolbox, tellsOf } from './toolbox.ts';
import type { UpstreamServer } from './upstreams/upstream-server.ts';
import type { UpstreamSet } from './upstreams/upstream-set.ts';

/** Lists of upstreams' entries, by method. */
const LISTS = {
  'prompts/list': { kind: 'prompts', member: 'prompts', capability: 'prompts' },
  'resources/list': { kind: 'resources', member: 'resources', capability: 'resources' },
  'resources/templates/list': { kind: 'templates', member: 'resourceTemplates', capability: 'resources' },
} as const;

/** Returns the capabilities besides tools, for clients of either era. */
export function upstreamCapabilities({ upstreams }: Toolbox): Readonly<Record<string, object>> {
  const names = ['prompts', 'resources', 'completions', 'logging'].filter((name) => upstreams?.offers(name));
  return Object.fromEntries(names.map((name) => [name, {}]));
}

/**
 * Returns JSON members of the result of a list, without braces; null: upstreams do not answer the method. Throws
 * RpcError.
 */
export async function listOfUpstreams(
  { toolbox: { upstreams, pageSize }, permits }: McpRequest,
  { method, params }: RpcRequest,
): Promise<string | null> {
  const list = LISTS[method as keyof typeof LISTS];
  if (!list || !upstreams?.offers(list.capability)) return null;
  const cursor = get(params, 'cursor');
  if (cursor !== undefined && typeof cursor !== 'string') throw invalid('"cursor" must be a string.');
  const entries = upstreams.entries(list.kind);
  const text = (key: string) => entries.get(key)?.entry.listed ?? '';
  const permitted = await permits();
  const keys = [...entries].flatMap(([key, { server }]) => (tellsOf(server, permitted) ? [key] : []));
  const page = pageOf(keys, cursor, { size: pageSize, text });
  if (page === null) throw invalid('The cursor is not one of this server.');
  const next = page.nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(page.nextCursor)}`;
  return `"${list.member}":[${page.keys.map(text).join(',')}]${next}`;
}

/** Returns the request for an upstream; null: upstreams do not answer the method. Throws RpcError. */
export function requestOfUpstream({ toolbox }: McpRequest, { method, params }: RpcRequest): Passed | null {
  const { upstreams } = toolbox;
  if (upstreams === null) return null;
  const found = questionOf(upstreams, method, withoutProtocolMeta(params));
  if (found === null) return null;
  const { server, question, member } = found;
  const { authorize } = server.settings;
  const authorizer = authorize === undefined ? null : toolbox.operation(authorize);
  const fault = (result: Obj) => {
    const isInterim = (get(result, 'resultType') ?? 'complete') !== 'complete';
    return isInterim || typeof get(result, member) === 'object' ? null : `gave a result without ${member}`;
  };
  return { server, question, about: method, authorizer, fault };
}

interface Found {
  readonly server: UpstreamServer;
  readonly question: McpQuestion;
  /** Member that the result must have. */
  readonly member: string;
}

function questionOf(upstreams: UpstreamSet, method: string, params: Obj): Found | null {
  switch (method) {
    case 'prompts/get': {
      if (!upstreams.offers('prompts')) return null;
      const { server, entry } = promptOf(upstreams, get(params, 'name'));
      return {
        server,
        question: { method, name: entry.own, params: { ...params, name: entry.own } },
        member: 'messages',
      };
    }
    case 'resources/read': {
      if (!upstreams.offers('resources')) return null;
      const uri = get(params, 'uri');
      if (typeof uri !== 'string') throw invalid('"uri" must be a string.');
      return { server: resourceOf(upstreams, uri), question: { method, name: uri, params }, member: 'contents' };
    }
    case 'completion/complete':
      return upstreams.offers('completions') ? { ...completion(upstreams, params), member: 'completion' } : null;
    default:
      return null;
  }
}

function completion(upstreams: UpstreamSet, params: Obj): Omit<Found, 'member'> {
  const method = 'completion/complete';
  const ref = get(params, 'ref');
  if (get(ref, 'type') === 'ref/prompt') {
    const { server, entry } = promptOf(upstreams, get(ref, 'name'));
    return { server, question: { method, params: { ...params, ref: { ...(ref as Obj), name: entry.own } } } };
  }
  const uri = isObject(ref) && get(ref, 'type') === 'ref/resource' ? get(ref, 'uri') : undefined;
  if (typeof uri !== 'string') throw invalid('"ref" must name a prompt, or a resource.');
  const server = upstreams.entries('templates').get(uri)?.server ?? resourceOf(upstreams, uri);
  return { server, question: { method, params } };
}

function promptOf(upstreams: UpstreamSet, name: unknown) {
  if (typeof name !== 'string') throw invalid('"name" must be a string.');
  const found = upstreams.entries('prompts').get(name);
  if (!found) throw invalid(`Unknown prompt: ${name.slice(0, 100)}`);
  return found;
}

function resourceOf(upstreams: UpstreamSet, uri: string): UpstreamServer {
  const server = upstreams.serverOf(uri);
  if (server === null) throw new RpcError(INVALID_PARAMS, 'Resource not found', { data: { uri: uri.slice(0, 2048) } });
  return server;
}

function invalid(message: string): RpcError {
  return new RpcError(INVALID_PARAMS, message);
}
