/** `gw hash`: hashes of passwords and API keys, for config that may hold them in the open. */

import { argon2Sync, hash, randomBytes, scryptSync } from 'node:crypto';
import { Command } from 'commander';
import { messageOf } from '../text/message-of.ts';
import { structured } from './command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from './command-line/program.ts';
import { formatOption, option } from './command-line/variables.ts';

const HASH_ALGORITHMS = ['argon2id', 'scrypt', 'sha256'] as const;
type HashAlgorithm = (typeof HASH_ALGORITHMS)[number];

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** First recommendation of OWASP's password storage page. */
const ARGON2 = { memory: 19_456, passes: 2, parallelism: 1 };
const SCRYPT = { ln: 17, r: 8, p: 1 };

/** `sha256` is for keys that were made at random: of passwords it would be quick to guess. */
export function makeHash(secret: string, algorithm: HashAlgorithm): string {
  if (algorithm === 'sha256') return `sha256:${hash('sha256', secret, 'hex')}`;
  const salt = randomBytes(SALT_BYTES);
  if (algorithm === 'argon2id') {
    const { memory, passes, parallelism } = ARGON2;
    const found = argon2Sync('argon2id', { message: secret, nonce: salt, tagLength: HASH_BYTES, ...ARGON2 });
    return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(found)}`;
  }
  const { ln, r, p } = SCRYPT;
  const found = scryptSync(secret, salt, HASH_BYTES, { N: 2 ** ln, r, p, maxmem: 512 << 20 });
  return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(found)}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}

interface Flags {
  readonly algorithm: HashAlgorithm;
  readonly format: string;
}

/** More than passwords and request headers hold. */
const MOST_BYTES = 8192;

const HELP = `
Examples:
  $ gw hash < password.txt
  $ openssl rand -hex 32 | tee key.txt | gw hash --algorithm sha256

Reads the secret from standard input, so that no list of processes and no shell history holds it, and drops one line
break at its end. Put the hash in the config of basic-auth (argon2id, scrypt) or apikey-auth (sha256).
Use sha256 only for random keys: a password could be guessed from it.

Exit codes: 0 success, 1 nothing to hash, or not UTF-8.`;

export function hashCommand(program: Program): Command {
  return new Command('hash')
    .description('Read a password or API key from standard input and print its hash.')
    .addOption(
      option('--algorithm <algorithm>', 'hash algorithm', 'GW_HASH_ALGORITHM')
        .choices(HASH_ALGORITHMS)
        .default('argon2id'),
    )
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((flags: Flags) => run(flags, program));
}

async function run({ algorithm, format }: Flags, { stdin, stdout, stderr, exit }: Program): Promise<void> {
  let secret: string;
  try {
    secret = new TextDecoder('utf-8', { fatal: true }).decode(await stdin(MOST_BYTES)).replace(/\r?\n$/, '');
  } catch (error) {
    stderr(`gw hash: cannot read the secret: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  if (secret === '' || /[\r\n]/.test(secret)) {
    stderr('gw hash: give one secret on standard input, such as by "gw hash < password.txt"\n');
    return exit(EXIT_FAILURE);
  }
  const made = makeHash(secret, algorithm);
  stdout((await structured(format, { algorithm, hash: made })) ?? `${made}\n`);
  exit(0);
}
