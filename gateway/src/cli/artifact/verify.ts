/**
 * `gw verify`: checks an artifact as `gw serve` does when it loads it, without serving it
 * (docs/reference/gateway.md#signatures, docs/decisions.md#manifest-sealed, docs/decisions.md#trusted-keys).
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { printable } from '../../text/printable.ts';
import { list } from '../command-line/options.ts';
import { structured } from '../command-line/output-format.ts';
import type { Program } from '../command-line/program.ts';
import { formatOption, readBy } from '../command-line/variables.ts';
import { openArtifact } from './open-artifact.ts';

interface Flags {
  readonly key?: readonly string[];
  readonly format: string;
}

const HELP = `
Examples:
  $ gw verify api.gwa
  $ gw verify api.gwa --key 6d2f…  --key 91c0…
  $ GW_TRUSTED_PUBKEY=6d2f…,91c0… gw verify api.gwa

Hashes are always verified. With keys the artifact must be signed by one of them.

Exit codes: 0 the artifact is whole, and signed where keys are given; 1 it is not, or cannot be read.`;

export function verifyCommand(program: Program): Command {
  return new Command('verify')
    .description('Verify the hashes of an artifact, and its signature.')
    .argument('<artifact>', 'artifact file, or folder of its parts')
    .addOption(
      readBy(
        new Option('--key <hex>', 'trusted Ed25519 public key (repeatable) (env: GW_TRUSTED_PUBKEY)').argParser(keys),
        'GW_TRUSTED_PUBKEY',
      ),
    )
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((path: string, { key, format }: Flags) =>
      run(path, { keys: key ?? list(program.env['GW_TRUSTED_PUBKEY'] ?? '', []), format }, program),
    );
}

/** An empty variable behind `--key` must not turn the check off. */
function keys(text: string, previous: readonly string[] | undefined): string[] {
  const all = list(text, previous);
  if (all.length === (previous ?? []).length) throw new InvalidArgumentError('Give a public key of 64 hex digits.');
  return all;
}

async function run(
  path: string,
  { keys, format }: { readonly keys: readonly string[]; readonly format: string },
  program: Program,
): Promise<void> {
  const artifact = await openArtifact('verify', path, keys, program);
  if (!artifact) return;
  const { artifact_hash, signature, signing_public_key } = artifact.manifest;
  const verified = keys.length > 0;
  const data = { artifact_hash, signed: signature !== undefined, signature_verified: verified };
  const text = `${path}: hashes verified, ${artifact_hash}\n${path}: ${describeSignature(verified, signature, signing_public_key)}\n`;
  program.stdout((await structured(format, data)) ?? text);
  program.exit(0);
}

function describeSignature(verified: boolean, signature: string | undefined, key: string | undefined): string {
  // Which key the artifact says that it was signed with is only informational.
  if (verified) return 'signature verified with a trusted key';
  if (signature === undefined) return 'not signed';
  return `signed${key === undefined ? '' : ` (by ${printable(key)}, it says)`}, but not verified: give --key`;
}
