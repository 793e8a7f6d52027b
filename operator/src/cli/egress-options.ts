/**
 * Addresses that the operator may connect to: registries and URLs that its users name
 * (docs/decisions.md#references-stay-inside, docs/decisions.md#egress-allow).
 */
import { EgressGuard } from '@gw/gateway/egress';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EgressSettings } from '../sources/open-fetcher.ts';

export interface RegistryFlags {
  /** CIDRs and host names beside public addresses. */
  readonly egressAllow: readonly string[];
  /** Registries, HOST or HOST:PORT, with which plain HTTP may be spoken. */
  readonly plainHttpRegistry: readonly string[];
}

export interface EgressFlags extends RegistryFlags {
  /** Hosts, HOST or HOST:PORT, whose URLs may be `http:`. */
  readonly plainHttpSource: readonly string[];
  /** MiB. */
  readonly sourceCache: number;
}

const more = (text: string, before: readonly string[]) => [...before, text];

/** Adds the options of commands that connect to registries. */
export function addRegistryOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--egress-allow <cidr-or-host>',
        'connect to registries and URLs at this internal address or host too; repeatable; default public ones only',
      )
        .argParser(more)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--plain-http-registry <host>',
        'registry, HOST or HOST:PORT, with which plain HTTP may be spoken where its user asks for it; repeatable',
      )
        .argParser(more)
        .default([], 'none'),
    );
}

export function addEgressOptions(command: Command): Command {
  return addRegistryOptions(command)
    .addOption(
      new Option(
        '--plain-http-source <host>',
        'host, with its port where that is not 80, whose URLs may be http: as sources of ApiSpecs and PluginRefs; repeatable',
      )
        .argParser(more)
        .default([], 'none'),
    )
    .addOption(
      new Option('--source-cache <mib>', 'MiB of memory for documents and plugins from registries and URLs')
        .argParser(parseMebibytes)
        .default(256),
    );
}

/** Throws an Error that names the invalid entry of `--egress-allow`. */
export function egressSettings(flags: EgressFlags): EgressSettings {
  return {
    guard: new EgressGuard({ allowInternal: false, allow: flags.egressAllow }),
    egressAllow: flags.egressAllow,
    plainHttpRegistries: flags.plainHttpRegistry,
    plainHttpSources: flags.plainHttpSource,
    sourceCacheBytes: flags.sourceCache << 20,
  };
}

function parseMebibytes(text: string): number {
  const mebibytes = Number(text);
  if (!Number.isInteger(mebibytes) || mebibytes < 1 || mebibytes > 2047)
    throw new InvalidArgumentError('expected a whole number of MiB from 1 to 2047');
  return mebibytes;
}
