/**
 * The commands of containers in local mode. Processes have the rights of the user who starts them, so a manifest of
 * somebody else must not choose them: only the gateway's own program runs, others need `--allow-commands`.
 */
import { GW_ENTRY } from '../objects/gateway-container.ts';
import type { Container } from './local-kinds.ts';

export interface Command {
  /** The program, and arguments that are not paths in a volume. */
  readonly program: readonly string[];
  readonly args: readonly string[];
}

const GW: readonly string[] = ['node', GW_ENTRY];
/** The last segment of the image's repository. */
const IMAGE_OF_GW = /^([^@]*\/)?gw(:[^/]*)?(@.*)?$/;
/** Variables by which Node.js, the linker or OpenSSL run something else. */
const RESERVED = /^((NODE|LD|DYLD|OPENSSL)_|(PATH|GCONV_PATH)$)/i;
const ALLOW = 'local mode runs that with your permissions, and only with --allow-commands';

export interface CommandRights {
  /** `--allow-commands`. */
  readonly allowed: boolean;
  /** The operator has made it of a GatewayProject. */
  readonly made: boolean;
}

/** Throws an Error that names the option to allow it. */
export function commandOf(
  container: Container,
  variables: ReadonlyMap<string, string>,
  { allowed, made }: CommandRights,
): Command {
  const { command, args = [], image = '' } = container;
  // Options of the gateway could read a file and send it: a GatewayProject's settings are checked by its schema.
  if (!made && !allowed) throw new Error(`it comes from a manifest and is not a gateway of a GatewayProject: ${ALLOW}`);
  const variable = [...variables.keys()].find((name) => RESERVED.test(name));
  if (variable !== undefined && !allowed) throw new Error(`it sets ${variable}: ${ALLOW}`);
  if (command === undefined && !IMAGE_OF_GW.test(image))
    throw new Error(`images other than gw's are not run in local mode: "${image}" has no command`);
  const [program = '', ...rest] = command ?? GW;
  const isGw = program === GW[0] && rest[0] === GW[1];
  const [first] = [...rest.slice(1), ...args];
  if (isGw && (first === 'serve' || allowed)) return { program: GW, args: [...rest.slice(1), ...args] };
  if (allowed) return { program: [program], args: [...rest, ...args] };
  const what = isGw ? `gw ${first ?? ''}`.trim() : [program, ...rest].join(' ');
  throw new Error(`its command is "${what.slice(0, 200)}": ${ALLOW}`);
}
