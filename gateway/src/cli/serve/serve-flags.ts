/** The table of `gw serve` options as options of the command line. */
import { availableParallelism } from 'node:os';
import { InvalidArgumentError, type Option } from 'commander';
import { flagName, type OptionEntry } from '../../options/option-table.ts';
import { SERVE_OPTIONS } from '../../options/options.ts';
import type { ServeFlags, ServeOptions } from '../../options/serve-options.ts';
import { tracingOptions } from '../../telemetry/tracing-options.ts';
import {
  adminAddress,
  list,
  listenAddress,
  secondsFrom,
  share,
  wholeNumber,
  yesOrNo,
} from '../command-line/options.ts';
import { flag, listOption, option } from '../command-line/variables.ts';
import { controlPlaneOptions } from './control-plane-options.ts';

/** Additions to `egressAllow` for developers: upstreams are on their machine. */
export const THIS_MACHINE = ['127.0.0.0/8', '::1'];

/** In the order of the table. */
export const optionNames = () => Object.keys(SERVE_OPTIONS) as (keyof typeof SERVE_OPTIONS)[];

/** `standard`: the default in place of the table's. */
export function serveOption(name: keyof typeof SERVE_OPTIONS, standard?: string): Option {
  const entry: OptionEntry = SERVE_OPTIONS[name];
  const flags = flagName(name);
  switch (entry.type) {
    case 'integer': {
      const { unit, minimum, maximum, auto } = entry;
      const whole = wholeNumber(minimum, maximum);
      const parse = auto ? (text: string) => (text === 'auto' ? availableParallelism() : whole(text)) : whole;
      return withDefault(option(`${flags} <${unit}>`, entry.help).argParser(parse), entry.default);
    }
    case 'seconds':
      return option(`${flags} <seconds>`, entry.help)
        .argParser(secondsFrom(entry.minimum, entry.maximum))
        .default(entry.default);
    case 'share':
      return option(`${flags} <share>`, entry.help).argParser(share).default(entry.default);
    case 'flag':
      return flag(flags, entry.help);
    case 'boolean':
      return option(`${flags} <boolean>`, entry.help).argParser(yesOrNo).default(entry.default);
    case 'choice':
      return option(`${flags} <${entry.value}>`, entry.help)
        .choices(entry.choices)
        .default(standard ?? entry.default);
    case 'text': {
      const text = option(`${flags} <${entry.value}>`, entry.help);
      if (entry.pattern !== undefined) text.argParser(matching(new RegExp(entry.pattern), entry.say ?? ''));
      return withDefault(text, entry.default);
    }
    case 'list':
      return listOption(`${flags} <${entry.value}>`, entry.help, standard ?? 'none');
    case 'address':
      return option(`${flags} <address>`, entry.help)
        .argParser(entry.off ? adminAddress : listenAddress)
        .default(listenAddress(entry.default), entry.default);
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the options of a gateway, from the flags of its command line and from environment variables. Throws an Error
 * that names the option to change.
 */
export function serveOptions(flags: ServeFlags, env: Env): ServeOptions {
  // The key is passed only in the control plane's options, which workers do not get.
  const { projectId: _, apiKey: _key, apiKeyFile: _file, controlPlaneCa: _ca, ...plain } = flags;
  return {
    ...plain,
    controlPlane: controlPlaneOptions(flags),
    env,
    tracing: tracingOptions(flags.otlpEndpoint, flags.traceSampling, env),
    trustedKeys: list(env['GW_TRUSTED_PUBKEY'] ?? '', []),
    auditKey: auditKey(env['GW_AUDIT_KEY']),
    secretsDir: env['GW_SECRETS_DIR'] || undefined,
    allowInternalEgress: ['1', 'true'].includes(env['GW_ALLOW_INTERNAL_EGRESS'] ?? ''),
  };
}

/** Characters below which a key could be tried out. */
const LEAST_KEY = 32;

/** Throws if the key is too short. */
function auditKey(key: string | undefined): string | undefined {
  if (!key) return undefined;
  if (key.length >= LEAST_KEY) return key;
  throw new Error(`GW_AUDIT_KEY has less than ${LEAST_KEY} characters: make one with "openssl rand -hex 32"`);
}

/** Returns the options of a command line without flags. */
export function serveDefaults(): ServeFlags {
  const values = Object.entries(SERVE_OPTIONS).map(([name, entry]) => [name, defaultOf(entry)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function defaultOf(entry: OptionEntry): unknown {
  switch (entry.type) {
    case 'address':
      return listenAddress(entry.default);
    case 'flag':
      return false;
    case 'list':
      return [];
    default:
      return entry.default;
  }
}

function withDefault(given: Option, standard: string | number | undefined): Option {
  return standard === undefined ? given : given.default(standard);
}

function matching(pattern: RegExp, say: string) {
  return (text: string): string => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(say);
  };
}
