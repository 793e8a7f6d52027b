/** Lists what an upstream offers, within limits: it may be anybody's, and costs itself alone (docs/mcp.md#upstream-tools). */
import { get, isObject, type Obj } from '../../spec/json.ts';
import type { Asking, McpClient, Session, Stateless } from '../client/client.ts';
import { type OfferedTool, offeredTool } from './definition.ts';
import { allows, type UpstreamSettings } from './settings.ts';

export const MOST_TOOLS = 1_000;
/** Bytes of an answer, and of all of a list. */
export const MOST_LIST = 4 << 20;
const MOST_PAGES = 100;

export interface Catalogue {
  /** By name, with the prefix. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** By name without prefix, of those that are allowed: why they are not offered. */
  readonly held: ReadonlyMap<string, string>;
  /** Capabilities of the server. */
  readonly capabilities: Obj;
}

/** Throws where the list is none, or has no end. */
export async function listTools(client: McpClient, link: Stateless | Session, asking: Asking): Promise<readonly Obj[]> {
  const all: Obj[] = [];
  let size = 0;
  let cursor: unknown;
  for (let page = 1; ; page++) {
    if (page > MOST_PAGES) throw new Error(`its list of tools has more than ${MOST_PAGES} pages`);
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.ask({ method: 'tools/list', params }, link, asking);
    const tools = get(result, 'tools');
    if (!Array.isArray(tools) || !tools.every(isObject)) throw new Error('its answer is no list of tools');
    size += JSON.stringify(tools).length;
    all.push(...tools);
    if (all.length > MOST_TOOLS) throw new Error(`it has more than ${MOST_TOOLS} tools`);
    if (size > MOST_LIST) throw new Error(`its list of tools is longer than ${MOST_LIST} characters`);
    cursor = get(result, 'nextCursor');
    if (cursor === undefined || cursor === null) return all;
    if (typeof cursor !== 'string' || cursor.length > 4096) throw new Error('the cursor of its list is not valid');
  }
}

export function catalogueOf(listed: readonly Obj[], capabilities: Obj, settings: UpstreamSettings): Catalogue {
  const tools = new Map<string, OfferedTool>();
  const held = new Map<string, string>();
  for (const given of listed) {
    const own = String(given['name']).slice(0, 128);
    if (!allows(settings, own)) continue;
    const tool = offeredTool(given, settings.prefix);
    const why = typeof tool === 'string' ? tool : (pinFault(tool, settings) ?? repeated(tool, tools));
    if (why !== null || typeof tool === 'string') held.set(own, why ?? '');
    else tools.set(tool.name, tool);
  }
  return { tools, held, capabilities };
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
