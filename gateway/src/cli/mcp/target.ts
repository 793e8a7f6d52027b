/**
 * The target of `gw mcp`: a server by its URL, or an artifact that is served on this machine for the duration of the
 * command.
 */
import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import type { Artifact } from '../../artifact/read.ts';
import { MCP_PATH } from '../../mcp/paths.ts';
import { startGateway } from '../../serve/serve.ts';
import { createLog } from '../../telemetry/log.ts';
import { shownAddress } from '../../transport/listen-address.ts';
import { openArtifact } from '../artifact/open-artifact.ts';
import { isColoured } from '../command-line/colour.ts';
import type { Program } from '../command-line/program.ts';
import { serveDefaults, serveOptions, THIS_MACHINE } from '../serve/serve-flags.ts';

export type McpTarget =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'artifact'; readonly path: string };

/** Throws a usage error if it is neither. */
export function mcpTarget(text: string): McpTarget {
  if (/^https?:\/\//i.test(text)) return { kind: 'server', url: mcpUrl(text) };
  if (existsSync(text)) return { kind: 'artifact', path: text };
  throw new InvalidArgumentError('Give a URL, such as http://localhost:8080, or an artifact: there is no such file.');
}

/** The endpoint that a URL of the command line names; one without a path is that of a gateway. */
export function mcpUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('Give a URL, such as http://localhost:8080.');
  }
  const at = new URL(text);
  if (at.pathname === '/') at.pathname = MCP_PATH;
  return at.href;
}

/** Returns null after one line on stderr and the exit code: it cannot be read, or has no tools. */
export async function openTools(command: string, path: string, program: Program): Promise<Artifact | null> {
  const artifact = await openArtifact(command, path, [], program);
  if (artifact === null || artifact.tools !== null) return artifact;
  program.stderr(`gw ${command}: no document of the artifact has x-gw-mcp: {enabled: true}\n`);
  program.exit(1);
  return null;
}

export interface ServingOptions {
  /** Addresses of upstreams that are allowed besides this machine's. */
  readonly egressAllow: readonly string[];
}

/** Serves as `gw dev` does, on a free port; `use` is given the URL of the endpoint. */
export async function withServed<T>(
  path: string,
  { egressAllow }: ServingOptions,
  { env, stderr }: Program,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const log = await createLog('warn', 'pretty', 2, isColoured(env, 2));
  const gateway = await startGateway(
    {
      ...serveOptions({ ...serveDefaults(), artifact: path, listen: { host: '127.0.0.1', port: 0 } }, env),
      adminBind: null,
      watchArtifact: false,
      dev: true,
      allowPlaintextUpstream: true,
      egressAllow: [...THIS_MACHINE, ...egressAllow],
      shutdownTimeout: 1,
    },
    { log, stderr },
  );
  try {
    return await use(`http://${shownAddress(gateway.address)}${MCP_PATH}`);
  } finally {
    await gateway.stop();
    await log.flush();
  }
}
