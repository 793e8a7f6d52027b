/** How `gw-control serve` compiles (docs/decisions.md#production-builds). */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createSigner } from '@gw/gateway/artifact';
import { yesOrNo } from '@gw/gateway/command-line';
import { messageOf } from '@gw/gateway/message-of';
import { InvalidArgumentError, Option } from 'commander';
import type { CompileSettings } from '../modules/compilations/compile-job.ts';

export interface CompileFlags {
  readonly signingKey?: string;
  readonly allowPlaintext: boolean;
  readonly compileConcurrency: number;
}

/** Threads that compile at once, at most. */
const MAX_CONCURRENCY = 64;

export function compileOptionList(): readonly Option[] {
  return [
    new Option(
      '--signing-key <file>',
      'PEM file of a PKCS#8 Ed25519 private key: signs production builds, as gw compile does',
    ).env('GW_SIGNING_KEY'),
    new Option(
      '--allow-plaintext [boolean]',
      'permit http:// upstream URLs in builds that are not for production, as gw compile does',
    )
      .preset('true')
      .argParser(yesOrNo)
      .default(false)
      .env('GW_ALLOW_PLAINTEXT'),
    new Option('--compile-concurrency <number>', 'compilations at once; 0 leaves them to other replicas')
      .argParser(concurrency)
      .default(Math.max(1, Math.floor(availableParallelism() / 2)), 'one for two CPUs')
      .env('GW_CONTROL_COMPILE_CONCURRENCY'),
  ];
}

/** Throws, without repeating the key, if it cannot be used. */
export function compileOptions({
  signingKey: file,
  allowPlaintext,
  compileConcurrency,
}: CompileFlags): CompileSettings & { readonly compileConcurrency: number } {
  return { allowPlaintext, compileConcurrency, ...(file ? { signingKey: readKey(file) } : {}) };
}

function readKey(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8');
    createSigner(pem);
    return pem;
  } catch (error) {
    throw new Error(`--signing-key ${file} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

function concurrency(text: string): number {
  const number = Number(text);
  if (/^\d{1,2}$/.test(text) && number <= MAX_CONCURRENCY) return number;
  throw new InvalidArgumentError(`Give a number from 0 to ${MAX_CONCURRENCY}.`);
}
