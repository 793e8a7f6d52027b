/** `gw keygen`: a key pair that signs artifacts (docs/reference/gateway.md#signatures). */

import { generateKeyPairSync } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { createSigner } from '../../artifact/signature.ts';
import { errorCode } from '../../text/error-code.ts';
import { messageOf } from '../../text/message-of.ts';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { flag, formatOption, option } from '../command-line/variables.ts';

interface Flags {
  readonly output: string;
  readonly force: boolean;
  readonly format: string;
}

const HELP = `
Examples:
  $ gw keygen --output signing.pem
  $ GW_SIGNING_KEY=signing.pem gw compile -m gw.yaml -o api.gwa
  $ GW_TRUSTED_PUBKEY=<the printed key> gw serve --artifact api.gwa

The private key is PKCS#8 in PEM, readable by its owner only; keep it out of version control.
The command prints the public key, in hex.

Exit codes: 0 success, 1 the file exists or cannot be written.`;

export function keygenCommand(program: Program): Command {
  return new Command('keygen')
    .description('Create an Ed25519 key pair for signing artifacts, and print the public key.')
    .addOption(option('-o, --output <path>', 'private key file', 'GW_KEYGEN_OUTPUT').default('gw-signing-key.pem'))
    .addOption(flag('--force', 'overwrite an existing file'))
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((flags: Flags) => run(flags, program));
}

async function run({ output, force, format }: Flags, { stdout, stderr, exit }: Program): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  try {
    await writeKey(output, privateKey, force);
  } catch (error) {
    const exists = errorCode(error) === 'EEXIST';
    const reason = messageOf(error);
    stderr(
      exists
        ? `gw keygen: ${output} exists: artifacts may depend on it; give another --output, or --force to replace it\n`
        : `gw keygen: cannot write ${output}: ${reason}\n`,
    );
    return exit(EXIT_FAILURE);
  }
  stderr(`private key: ${output}\npublic key, for GW_TRUSTED_PUBKEY:\n`);
  const public_key = createSigner(privateKey).publicKey;
  stdout((await structured(format, { private_key_file: output, public_key })) ?? `${public_key}\n`);
  exit(0);
}

/** Made with its mode, never open to others for a moment; an old file's mode would stay, so it is replaced whole. */
async function writeKey(path: string, pem: string, force: boolean): Promise<void> {
  if (!force) return writeFile(path, pem, { mode: 0o600, flag: 'wx' });
  const part = `${path}.${process.pid}.part`;
  try {
    await writeFile(part, pem, { mode: 0o600, flag: 'wx' });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
