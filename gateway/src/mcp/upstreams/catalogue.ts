/**
 * Lists an upstream's entries, within limits: it may be untrusted, and must cost only itself
 * (docs/mcp.md#upstream-tools).
 */
import { inTurns } from '../../scheduling/cooperative-scheduling.ts';
import { get, isObject, type Obj } from '../../spec/json.ts';
import type { Asking, McpClient, Session, Stateless } from '../client/client.ts';
import { type OfferedTool, offeredTool, textOf } from './definition.ts';
import { type OfferedEntry, offeredPrompt, offeredResource, offeredTemplate } from './entries.ts';
import { allows, type UpstreamSettings } from './settings.ts';

/** Characters of a reason. */
const MOST_REASON = 300;
/** Most entries of one kind. */
const MOST_ENTRIES = 1_000;
/** Bytes of an answer, and of all of a list. */
export const MOST_LIST = 4 << 20;
const MOST_PAGES = 100;

interface ListMethod {
  readonly method: string;
  /** Member of the result. */
  readonly member: string;
  readonly capability: string;
}

export const KINDS = {
  tools: { method: 'tools/list', member: 'tools', capability: 'tools' },
  prompts: { method: 'prompts/list', member: 'prompts', capability: 'prompts' },
  resources: { method: 'resources/list', member: 'resources', capability: 'resources' },
  templates: { method: 'resources/templates/list', member: 'resourceTemplates', capability: 'resources' },
} as const satisfies Record<string, ListMethod>;
export type Kind = keyof typeof KINDS;

export interface Catalogue {
  /** Tools by name, with the prefix. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** Prompts by name, with the prefix. */
  readonly prompts: ReadonlyMap<string, OfferedEntry>;
  /** Resources by URI. */
  readonly resources: ReadonlyMap<string, OfferedEntry>;
  /** Templates of resources, by template. */
  readonly templates: ReadonlyMap<string, OfferedEntry>;
  /** Tools by name without prefix, of those that are allowed: why they are not offered. */
  readonly held: ReadonlyMap<string, string>;
  /** The same of all else, by kind and name. */
  readonly dropped: ReadonlyMap<string, string>;
}

/** Listed entries, by kind; unlisted kinds are left out. */
export type Listed = { readonly [K in Kind]?: readonly Obj[] };

/** Throws if the list is malformed, or endless. */
export async function listAll(
  kind: Kind,
  client: McpClient,
  link: Stateless | Session,
  asking: Asking,
): Promise<readonly Obj[]> {
  const { method, member } = KINDS[kind];
  const all: Obj[] = [];
  let size = 0;
  let cursor: unknown;
  for (let page = 1; ; page++) {
    if (page > MOST_PAGES) throw new Error(`its list of ${kind} has more than ${MOST_PAGES} pages`);
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.ask({ method, params }, link, asking);
    const entries = get(result, member);
    if (!Array.isArray(entries) || !entries.every(isObject)) throw new Error(`its answer is not a list of ${kind}`);
    size += JSON.stringify(entries).length;
    all.push(...entries);
    if (all.length > MOST_ENTRIES) throw new Error(`it has more than ${MOST_ENTRIES} ${kind}`);
    if (size > MOST_LIST) throw new Error(`its list of ${kind} is longer than ${MOST_LIST} characters`);
    cursor = get(result, 'nextCursor');
    if (cursor === undefined || cursor === null) return all;
    if (typeof cursor !== 'string' || cursor.length > 4096) throw new Error('the cursor of its list is not valid');
  }
}

export async function catalogueOf(listed: Listed, settings: UpstreamSettings): Promise<Catalogue> {
  const dropped = new Map<string, string>();
  const entries = (kind: Kind, patterns: readonly string[], offered: (given: Obj) => OfferedEntry | string) =>
    new Map(
      (listed[kind] ?? []).flatMap((given): [string, OfferedEntry][] => {
        const entry = offered(given);
        if (typeof entry !== 'string') return allows(patterns, entry.own) ? [[entry.key, entry]] : [];
        dropped.set(`${kind}: ${textOf(given['uri'] ?? given['uriTemplate'] ?? given['name']).slice(0, 128)}`, entry);
        return [];
      }),
    );
  return {
    ...(await inTurns(toolsOf(listed.tools ?? [], settings), () => true)),
    prompts: entries('prompts', settings.prompts, (given) => offeredPrompt(given, settings.prefix)),
    resources: entries('resources', settings.resources, offeredResource),
    templates: entries('templates', settings.resources, offeredTemplate),
    dropped,
  };
}

/** Yields between tools, whose schemas may be large. */
function* toolsOf(
  listed: readonly Obj[],
  settings: UpstreamSettings,
): Generator<undefined, Pick<Catalogue, 'tools' | 'held'>> {
  const tools = new Map<string, OfferedTool>();
  const held = new Map<string, string>();
  for (const given of listed) {
    yield;
    const own = textOf(given['name']).slice(0, 128);
    if (!allows(settings.allow, own)) continue;
    const tool = offeredTool(given, settings.prefix);
    const why = typeof tool === 'string' ? tool : (pinFault(tool, settings) ?? repeated(tool, tools));
    if (why !== null || typeof tool === 'string') held.set(own, (why ?? '').slice(0, MOST_REASON));
    else tools.set(tool.name, tool);
  }
  return { tools, held };
}

function repeated({ name }: OfferedTool, tools: ReadonlyMap<string, OfferedTool>): string | null {
  return tools.has(name) ? 'it is listed twice' : null;
}

function pinFault({ own, digest }: OfferedTool, { pin }: UpstreamSettings): string | null {
  if (pin === undefined) return null;
  const pinned = Object.hasOwn(pin, own) ? pin[own] : undefined;
  if (pinned === undefined) return `it is not pinned (its definition is ${digest})`;
  return pinned === digest ? null : `its definition has changed to ${digest} and is not admitted`;
}
