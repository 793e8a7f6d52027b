/** Variables for `env://` in `gw dev`: of the process, else of `.env` beside the manifest (docs/decisions.md#dev-secrets). */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Program } from '../command-line/program.ts';
import type { ReadPaths } from '../project/read-paths.ts';

/** Longest `.env` in bytes. */
const MOST_BYTES = 1 << 20;

export class DevEnvironment {
  readonly #own: Program['env'];
  readonly #manifest: string;
  readonly #file: string;
  readonly #variables: Record<string, string | undefined> = {};
  #isWithheld = false;

  constructor(own: Program['env'], manifest: string) {
    this.#own = own;
    this.#manifest = manifest;
    this.#file = join(dirname(resolve(manifest)), '.env');
  }

  /** Always the same object, which `read` changes. */
  get variables(): Program['env'] {
    return this.#variables;
  }

  /**
   * Withholds variables and files of secrets from an untrusted document, since its plugins could send them anywhere.
   */
  get isWithheld(): boolean {
    return this.#isWithheld;
  }

  /** Reads the file again; a missing one counts as empty. `isTrial`: a document is tried out. */
  read(reads: ReadPaths, isTrial: boolean): void {
    reads.file(this.#file);
    reads.file(this.#manifest);
    for (const name of Object.keys(this.#variables)) delete this.#variables[name];
    this.#isWithheld = isTrial && !existsSync(this.#manifest);
    if (!this.#isWithheld) Object.assign(this.#variables, this.#ofFile(), this.#own);
  }

  #ofFile(): NodeJS.Dict<string> {
    try {
      const text = readFileSync(this.#file, 'utf8');
      return text.length > MOST_BYTES ? {} : parseEnv(text);
    } catch {
      return {};
    }
  }
}
