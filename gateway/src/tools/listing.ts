/** The tools of an artifact, and their cost in a model's context (docs/mcp.md). */
import type { Artifact } from '../artifact/read.ts';
import { schemasOfTools, type ToolDefinition, toolDefinition } from './definition.ts';
import { tokensOf } from './tokens.ts';

export interface ArtifactTool {
  readonly definition: ToolDefinition;
  /** Method of its operation. */
  readonly method: string;
  readonly path: string;
  /** An estimate. */
  readonly tokens: number;
}

/** Numbers of tools that some clients accept: they silently drop others. */
const CLIENT_LIMITS = [
  { tools: 128, client: 'Visual Studio Code with Copilot' },
  { tools: 40, client: 'Cursor' },
] as const;

/** Returns an empty list if MCP is not enabled; tools of MCP upstreams are known to a running gateway only. */
export function toolsOfArtifact(artifact: Artifact): readonly ArtifactTool[] {
  const lookup = schemasOfTools(artifact);
  return (artifact.tools?.tools ?? []).map((tool) => {
    const definition = toolDefinition(tool, lookup);
    const { method, path } = artifact.routes.operations[tool.operation] ?? { method: '', path: '' };
    return { definition, method, path, tokens: tokensOf(definition) };
  });
}

/** Tools, with warnings about them as a whole. */
export function listingOf<T extends { readonly tokens: number }>(tools: readonly T[], upstreams: readonly string[]) {
  const tokens = tools.reduce((sum, each) => sum + each.tokens, 0);
  return { tools, count: tools.length, tokens, upstreams, warnings: warningsOf(tools.length) };
}

/** Returns the names of the MCP upstreams with tools that are offered, too. */
export function upstreamsOfArtifact({ tools }: Pick<Artifact, 'tools'>): readonly string[] {
  return (tools?.upstreams ?? []).map(({ name }) => name);
}

function warningsOf(count: number): readonly string[] {
  return CLIENT_LIMITS.filter(({ tools }) => count > tools).map(
    ({ tools, client }) => `${count} tools are more than the ${tools} that ${client} takes: select some (docs/mcp.md)`,
  );
}
