/** `kubectl gw logs`: the log lines of all of a project's pods. */

import { printable } from '@gw/gateway/command-line';
import { messageOf } from '@gw/gateway/message-of';
import { InvalidArgumentError, Option } from 'commander';
import { type Pod, pods } from '../api/resources.ts';
import { isRecord } from '../kube/kube-object.ts';
import type { AddCommand } from '../program.ts';
import { addClusterOptions, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { logLines } from './log-stream.ts';
import { podsOf } from './pods.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

interface Flags extends ClusterFlags {
  readonly follow?: boolean;
  readonly tail: number;
  readonly since?: number;
  readonly level?: (typeof LEVELS)[number];
  readonly requestId?: string;
  readonly pod?: string;
  readonly output: 'text' | 'json';
}

export const logsCommand: AddCommand = (parent, { stdout, stderr, stopped }) => {
  addClusterOptions(parent.command('logs'))
    .description('Show the logs of all pods of a project together.')
    .argument('[project]', 'GatewayProject; default: the only one in the namespace')
    .option('-f, --follow', 'keep printing new lines')
    .addOption(new Option('--tail <lines>', 'number of most recent lines of each pod').argParser(count).default(100))
    .addOption(new Option('--since <duration>', 'how far back: 30s, 10m, 2h').argParser(duration))
    .addOption(new Option('--level <level>', 'minimum level to show').choices(LEVELS))
    .option('--request-id <id>', 'only lines of the request with that X-Request-Id')
    .option('--pod <name>', 'only this pod; also one with a sidecar')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw logs shop -f
  $ kubectl gw logs shop --since 10m --level warn
  $ kubectl gw logs shop --tail 10000 --request-id 5a2a2edb-4b42-435f-9cb7-ac0b73daeaeb
  $ kubectl gw logs shop -o json | jq 'select(.status >= 500)'

How much a gateway logs is said by serve.logLevel of the GatewayProject.`,
    )
    .action((name: string | undefined, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        const project = await projectOf(cluster, name);
        const found = flags.pod
          ? [await cluster.objects.get(pods, { namespace: cluster.namespace, name: flags.pod })]
          : await podsOf(cluster, project);
        const present = found.filter((pod) => pod !== undefined);
        if (present.length === 0) throw new Error(`"${project.metadata.name}" has no such pod: see kubectl gw status`);
        const stop = new AbortController();
        void stopped().then(() => stop.abort());
        await Promise.all(
          present.map(async (pod) => {
            const container = containerOf(pod);
            try {
              const { follow = false, tail, since } = flags;
              const options = { container, follow, tail, signal: stop.signal, ...(since ? { since } : {}) };
              for await (const line of logLines(cluster.api, pod, options)) {
                const shown = lineOf(line, pod.metadata.name, flags);
                if (shown !== undefined) stdout(`${shown}\n`);
              }
            } catch (error) {
              if (stop.signal.aborted) return;
              // A deleted pod does not affect the logs of the others.
              const reason = messageOf(error);
              stderr(`${pod.metadata.name}: no log: ${printable(reason)}\n`);
            }
          }),
        );
      }),
    );
};

/** Returns the name of the gateway's container, which differs in a sidecar. */
function containerOf({ spec }: Pod): string {
  return spec?.containers?.some(({ name }) => name === 'gateway') ? 'gateway' : 'gw';
}

/** Returns undefined if the filters exclude the line. */
function lineOf(line: string, pod: string, { level, requestId, output }: Flags): string | undefined {
  const entry = parse(line);
  if (requestId !== undefined && entry?.['request_id'] !== requestId) return undefined;
  if (level !== undefined && rank(entry?.['level']) < LEVELS.indexOf(level)) return undefined;
  if (output === 'json') return JSON.stringify(entry ? { pod, ...entry } : { pod, text: line });
  return `${pod}  ${printable(line)}`;
}

/** Lines that are not JSON, such as a crash, always count as errors. */
function rank(level: unknown): number {
  const known: readonly unknown[] = LEVELS;
  const found = known.indexOf(level);
  return found < 0 ? LEVELS.length : found;
}

function parse(line: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('Give a number of lines.');
  return value;
}

const SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86_400 };

function duration(text: string): number {
  const match = /^(\d+)([smhd])$/.exec(text);
  if (!match) throw new InvalidArgumentError('Give a duration, such as 30s, 10m, 2h or 1d.');
  return Number(match[1]) * (SECONDS[match[2] ?? 's'] ?? 1);
}
