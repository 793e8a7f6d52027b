/** Differences between a control plane and the cluster, and how they will be resolved. */
import { isDeepStrictEqual } from 'node:util';
import type { ControlClient, Project, ProjectPlugin, Spec } from '@gw/control/client';
import type { McpSettings } from '@gw/gateway/mcp-settings';
import { shownName } from './answers.ts';
import type { Sources, SpecUpload } from './sources.ts';

/** Maximum number of lines in a status. */
const MAX_DRIFT = 20;
const MAX_LINE = 512;

const BACK = 'the next change of the GatewayProject reverts it';

/** Sources as far as differences go: documents by their hash. */
export interface Expected extends Omit<Sources, 'specs'> {
  readonly specs: readonly Pick<SpecUpload, 'name' | 'sha256'>[];
}

export function expectedOf({ specs, ...sources }: Sources): Expected {
  return { ...sources, specs: specs.map(({ name, sha256 }) => ({ name, sha256 })) };
}

/** Returns a line for each difference. */
export async function driftOf(client: ControlClient, project: Project, sources: Expected): Promise<readonly string[]> {
  const params = { id: project.id };
  const specs = await client.list('specs.listOfProject', { params });
  const plugins = await client.list('projectPlugins.list', { params });
  return differences({ specs, plugins, upstreams: project.upstreams, mcp: project.mcp }, sources);
}

export interface Found {
  readonly specs: readonly Pick<Spec, 'name' | 'sha256'>[];
  readonly plugins: readonly Pick<ProjectPlugin, 'plugin_name' | 'plugin_version' | 'enabled' | 'config'>[];
  readonly upstreams: Readonly<Record<string, string>>;
  readonly mcp?: McpSettings | null;
}

/** Pure. */
export function differences(found: Found, sources: Expected): readonly string[] {
  return [
    ...compared(
      'spec',
      new Map(sources.specs.map(({ name, sha256 }) => [name, sha256])),
      new Map(found.specs.map(({ name, sha256 }) => [name, sha256])),
    ),
    ...compared(
      'plugin',
      new Map(
        sources.plugins.map(({ plugin_name, plugin_version, enabled, config }) => [
          plugin_name,
          { plugin_version, enabled, config },
        ]),
      ),
      new Map(
        found.plugins.map(({ plugin_name, plugin_version, enabled, config }) => [
          plugin_name,
          { plugin_version, enabled, config },
        ]),
      ),
    ),
    ...compared('upstream', new Map(Object.entries(sources.upstreams)), new Map(Object.entries(found.upstreams))),
    ...compared('MCP upstream', mcpUpstreams(sources.mcp), mcpUpstreams(found.mcp)),
  ];
}

function mcpUpstreams(mcp: McpSettings | null | undefined): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(mcp?.upstreams ?? {}));
}

function compared(
  what: string,
  wanted: ReadonlyMap<string, unknown>,
  found: ReadonlyMap<string, unknown>,
): readonly string[] {
  const missing = [...wanted.keys()].filter((name) => !found.has(name));
  const added = [...found.keys()].filter((name) => !wanted.has(name));
  const changed = [...wanted].filter(([name, value]) => found.has(name) && !isDeepStrictEqual(found.get(name), value));
  return [
    ...changed.map(([name]) => `${what} "${name}" was changed there: ${BACK}`),
    ...added.map((name) => `${what} "${shownName(name)}" was added there: ${BACK}`),
    ...missing.map((name) => `${what} "${name}" is not there: ${BACK}`),
  ];
}

/** Limits the lines to the maximum in a status. */
export function capped(lines: readonly string[]): readonly string[] {
  const short = lines.map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line));
  if (short.length <= MAX_DRIFT) return short;
  return [...short.slice(0, MAX_DRIFT - 1), `and ${short.length - MAX_DRIFT + 1} more`];
}
