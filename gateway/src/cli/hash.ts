/** `gw hash`: hashes of passwords and API keys, for config that may hold them in the open. */
import { Command } from 'commander';
import { HASH_ALGORITHMS, type HashAlgorithm, makeHash } from '../../features/auth/host/credentials/make-hash.ts';
import { messageOf } from '../text/message-of.ts';
import { structured } from './command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from './command-line/program.ts';
import { formatOption, option } from './command-line/variables.ts';

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
