/**
 * Modules of built-in plugins as metering makes them, which the image has beside its programs: metering five modules
 * takes a tenth of the time until the first answer (docs/decisions.md#metered-in-the-image).
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rewriteModule } from './binary/rewrite.ts';
import type { MeteredModule } from './binary/types.ts';

/** Where the image has them. */
export const METERED_FOLDER = 'metered';
const FOLDER = join(import.meta.dirname, METERED_FOLDER);
/** Bytes of the length of what stands before the module. */
const LENGTH = 4;

/** Throws the errors of `rewriteModule`. */
export function meteredModule(wasm: Uint8Array, memoryBytes: number): MeteredModule {
  const file = join(FOLDER, nameOf(wasm, memoryBytes));
  return existsSync(file) ? readMetered(readFileSync(file)) : rewriteModule(wasm, memoryBytes);
}

/** Returns the file that `meteredModule` reads in place of metering a module. */
export function meteredFile(wasm: Uint8Array, memoryBytes: number): { readonly name: string; readonly bytes: Buffer } {
  const { bytes, ...facts } = rewriteModule(wasm, memoryBytes);
  const text = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(LENGTH);
  length.writeUInt32LE(text.length);
  return { name: nameOf(wasm, memoryBytes), bytes: Buffer.concat([length, text, bytes]) };
}

/** Reads the bytes of a `meteredFile`. */
export function readMetered(file: Buffer): MeteredModule {
  const end = LENGTH + file.readUInt32LE(0);
  const facts: Omit<MeteredModule, 'bytes'> = JSON.parse(file.toString('utf8', LENGTH, end));
  return { ...facts, bytes: new Uint8Array(file.subarray(end)) };
}

/** A module, and a limit of its memory, have one name. */
function nameOf(wasm: Uint8Array, memoryBytes: number): string {
  return `${hash('sha256', wasm)}-${memoryBytes}`;
}
