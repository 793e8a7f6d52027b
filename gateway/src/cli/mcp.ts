/** `gw mcp`: what agents are offered by an artifact, and calling it (docs/mcp.md). */
import { Command } from 'commander';
import type { Artifact } from '../artifact/read.ts';
import { schemasOfTools, toolDefinition } from '../tools/definition.ts';
import { callCommand } from './mcp-call.ts';
import { pinCommand } from './mcp-pin.ts';
import { openArtifact } from './open-artifact.ts';
import type { Program } from './program.ts';
import { table } from './table.ts';
import { formatOption } from './variables.ts';

interface Flags {
  readonly format: 'table' | 'json';
}

/** How many tools some clients take at most: others are dropped without a word. */
const CLIENT_LIMITS = [
  { tools: 128, client: 'Visual Studio Code with Copilot' },
  { tools: 40, client: 'Cursor' },
] as const;
/** Characters of JSON that make a token, roughly and over models. */
const CHARACTERS_PER_TOKEN = 4;

const HELP = `
Examples:
  $ gw mcp tools api.gwa
  $ gw mcp tools api.gwa --format json

Tokens are an estimate: a quarter of the characters of a tool's definition.

Exit codes: 0 success, 1 the artifact cannot be read or has been changed, or MCP is not enabled in it.`;

export function mcpCommand(program: Program): Command {
  const mcp = new Command('mcp')
    .description('Inspect the tools that an artifact offers to agents, call them, and pin those of other servers.')
    .addHelpText('after', '\nExamples:\n  $ gw mcp tools api.gwa\n  $ gw mcp call http://localhost:8080 listBooks');
  mcp.addCommand(toolsCommand(program).exitOverride());
  mcp.addCommand(callCommand(program).exitOverride());
  mcp.addCommand(pinCommand(program).exitOverride());
  return mcp;
}

function toolsCommand(program: Program): Command {
  return new Command('tools')
    .description('List the tools of an artifact, with their size in tokens.')
    .argument('<artifact>', 'artifact file, or folder of its parts')
    .addOption(formatOption(['table', 'json']))
    .addHelpText('after', HELP)
    .action((path: string, flags: Flags) => run(path, flags, program));
}

async function run(path: string, { format }: Flags, program: Program): Promise<void> {
  const artifact = await openArtifact('mcp tools', path, [], program);
  if (!artifact) return;
  if (artifact.tools === null) {
    program.stderr('gw mcp tools: no document of the artifact has x-gw-mcp: {enabled: true}\n');
    return program.exit(1);
  }
  const tools = toolsOf(artifact);
  const tokens = tools.reduce((sum, each) => sum + each.tokens, 0);
  const upstreams = (artifact.tools.upstreams ?? []).map(({ name }) => name);
  const warnings = warningsOf(tools.length);
  if (format === 'json')
    program.stdout(`${JSON.stringify({ tools, count: tools.length, tokens, upstreams, warnings })}\n`);
  else {
    const rows = tools.map(({ definition, method, path: route, tokens: size }) => [
      ...[definition.name, `${method} ${route}`, String(size), definition.title ?? '-'],
    ]);
    program.stdout(table([['TOOL', 'OPERATION', 'TOKENS', 'TITLE'], ...rows]));
    const more = upstreams.length === 0 ? '' : `, and those of MCP upstreams: ${upstreams.join(', ')}`;
    program.stdout(`${tools.length} tools, about ${tokens} tokens${more}\n`);
    for (const warning of warnings) program.stderr(`warning: ${warning}\n`);
  }
  program.exit(0);
}

function toolsOf(artifact: Artifact) {
  const lookup = schemasOfTools(artifact);
  return (artifact.tools?.tools ?? []).map((tool) => {
    const definition = toolDefinition(tool, lookup);
    const { method, path } = artifact.routes.operations[tool.operation] ?? { method: '', path: '' };
    const tokens = Math.ceil(JSON.stringify(definition).length / CHARACTERS_PER_TOKEN);
    return { definition, method, path, tokens };
  });
}

function warningsOf(count: number): readonly string[] {
  return CLIENT_LIMITS.filter(({ tools }) => count > tools).map(
    ({ tools, client }) => `${count} tools are more than the ${tools} that ${client} takes: select some (docs/mcp.md)`,
  );
}
