/**
 * Secret references in plugin config (docs/reference/gateway.md#secrets, docs/decisions.md#secrets-resolved):
 * `env://VAR` and `file:///path`.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { mapMarked } from '../artifact/config-marks.ts';
import type { Json, JsonObject } from '../artifact/format.ts';
import { fileStamp, pollForChange } from '../files/poll-for-change.ts';
import { errorCode } from '../text/error-code.ts';

/** A reference that does not resolve: `gw serve` exits with 13. The message names the reference, never a value. */
export class SecretError extends Error {}

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `GW_SECRETS_DIR`; undefined refuses every `file://`. */
  readonly dir: string | undefined;
}

const MAX_BYTES = 1 << 20;

export class Secrets {
  readonly #env: SecretSources['env'];
  readonly #dir: string | undefined;

  constructor({ env, dir }: SecretSources) {
    this.#env = env;
    this.#dir = dir;
  }

  /**
   * The config with every reference replaced, also in arrays and nested objects; at the pointers of `optional` an empty
   * variable is empty text. Throws SecretError.
   */
  resolve(config: JsonObject, optional: readonly string[] = []): JsonObject {
    return this.#object(mapMarked(config, optional, (text) => (this.#isEmptyVariable(text) ? '' : text)));
  }

  #isEmptyVariable(text: string): boolean {
    const name = /^env:\/\/(?!GW_)(.*)$/s.exec(text)?.[1];
    return name !== undefined && Object.hasOwn(this.#env, name) && this.#env[name] === '';
  }

  /** A file inside the secrets directory, as text without one newline at its end. Throws SecretError. */
  readFile(path: string): string {
    const reference = `file://${path}`;
    if (this.#dir === undefined) {
      throw new SecretError(`${reference} needs GW_SECRETS_DIR: set it to the directory that holds the secrets`);
    }
    if (!isAbsolute(path)) throw new SecretError(`${reference} is not an absolute path`);
    let inside: string;
    let root: string;
    try {
      root = realpathSync(this.#dir);
      inside = realpathSync(path);
    } catch (error) {
      throw new SecretError(`${reference} cannot be read (${errorCode(error) ?? 'unknown error'})`);
    }
    if (!inside.startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw new SecretError(`${reference} lies outside of GW_SECRETS_DIR`);
    }
    try {
      // A pipe or a device would be read without end.
      const found = statSync(inside);
      if (!found.isFile()) throw new SecretError(`${reference} is not a file`);
      if (found.size > MAX_BYTES) throw new SecretError(`${reference} is larger than 1 MiB`);
      const text = readFileSync(inside, 'utf8').replace(/\r?\n$/, '');
      if (text === '') throw new SecretError(`${reference} is empty`);
      return text;
    } catch (error) {
      if (error instanceof SecretError) throw error;
      throw new SecretError(`${reference} cannot be read (${errorCode(error) ?? 'unknown error'})`);
    }
  }

  #object(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#value(each)]));
  }

  #value(value: Json): Json {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    return isArray(value) ? value.map((each) => this.#value(each)) : this.#object(value);
  }

  #text(text: string): string {
    if (text.startsWith('file://')) return this.readFile(text.slice('file://'.length));
    if (!text.startsWith('env://')) return text;
    const name = text.slice('env://'.length);
    if (name.startsWith('GW_')) throw new SecretError(`${text} names a variable of gw itself, which is not allowed`);
    const value = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined;
    if (value === undefined) throw new SecretError(`${text}: the variable is not set`);
    if (value === '') throw new SecretError(`${text}: the variable is empty`);
    return value;
  }
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

/** Most files that are watched, and levels below: a directory that was named by mistake may be a whole disk. */
const MOST_FILES = 1000;
const MOST_DEPTH = 4;

/** Returns files and the targets of links, in the order of names; those past the limit are ignored. */
async function files(dir: string, depth: number, found: string[]): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(dir)) {
    if (names.push(entry.name) >= MOST_FILES) break;
  }
  for (const name of names.sort()) {
    if (found.length >= MOST_FILES) break;
    const path = join(dir, name);
    const kind = await stat(path).catch(() => null);
    // A broken link: its file has gone.
    if (kind === null) found.push(path);
    else if (kind.isDirectory() && depth < MOST_DEPTH) await files(path, depth + 1, found);
    else if (kind.isFile()) found.push(fileStamp(path, kind));
  }
  return found;
}

/**
 * Calls `changed` when a file of the directory has, also if a kubelet swaps a link, as `pollForChange` does. Returns the
 * function that ends it.
 */
export function watchSecrets(dir: string, changed: () => Promise<void>): () => void {
  return pollForChange(async () => (await files(dir, 0, [])).join('\n'), changed);
}
