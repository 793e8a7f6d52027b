/** The tools of an artifact, and what they cost a model's context (docs/mcp.md). */
import type { Artifact } from '../artifact/read.ts';
import { schemasOfTools, type ToolDefinition, toolDefinition } from './definition.ts';
import { tokensOf } from './tokens.ts';

export interface ArtifactTool {
  readonly definition: ToolDefinition;
  /** Of its operation. */
  readonly method: string;
  readonly path: string;
  /** An estimate. */
  readonly tokens: number;
}

/** How many tools some clients take at most: others are dropped without a word. */
const CLIENT_LIMITS = [
  { tools: 128, client: 'Visual Studio Code with Copilot' },
  { tools: 40, client: 'Cursor' },
] as const;

/** None where MCP is not enabled; those of MCP upstreams are known to a running gateway only. */
export function toolsOfArtifact(artifact: Artifact): readonly ArtifactTool[] {
  const lookup = schemasOfTools(artifact);
  return (artifact.tools?.tools ?? []).map((tool) => {
    const definition = toolDefinition(tool, lookup);
    const { method, path } = artifact.routes.operations[tool.operation] ?? { method: '', path: '' };
    return { definition, method, path, tokens: tokensOf(definition) };
  });
}

/** Tools, with what is to be said of all of them. */
export function listingOf<T extends { readonly tokens: number }>(tools: readonly T[], upstreams: readonly string[]) {
  const tokens = tools.reduce((sum, each) => sum + each.tokens, 0);
  return { tools, count: tools.length, tokens, upstreams, warnings: warningsOf(tools.length) };
}

/** Names of the MCP upstreams whose tools are offered, too. */
export function upstreamsOfArtifact({ tools }: Pick<Artifact, 'tools'>): readonly string[] {
  return (tools?.upstreams ?? []).map(({ name }) => name);
}

function warningsOf(count: number): readonly string[] {
  return CLIENT_LIMITS.filter(({ tools }) => count > tools).map(
    ({ tools, client }) => `${count} tools are more than the ${tools} that ${client} takes: select some (docs/mcp.md)`,
  );
}
