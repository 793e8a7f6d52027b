/**
 * Notes the paths that reading a project looked at, so that `gw dev` watches them
 * (docs/decisions.md#dev-watches-reads).
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Files and folders as they were when the project was read. */
export class ReadPaths {
  /** State of each path. */
  readonly #states = new Map<string, { readonly kind: Kind; readonly state: string }>();
  #root = '/';

  /** A file that is about to be read, or that is not there. */
  file(path: string): void {
    this.#note(path, 'file');
  }

  /** Notes a folder whose names are about to be listed. */
  folder(path: string): void {
    this.#note(path, 'folder');
  }

  /** From now on names of project files are relative to this folder. */
  within(root: string): void {
    this.#root = root;
  }

  /** A file of the project by its name there. */
  named(name: string): void {
    this.file(join(this.#root, name));
  }

  /** State of all paths when they were noted. */
  get before(): string {
    return [...this.#states.values()].map(({ state }) => state).join('\n');
  }

  /** Returns the current state of all paths. */
  now(): string {
    return [...this.#states].map(([path, { kind }]) => stateOf(path, kind)).join('\n');
  }

  /** Existing folders in which each change of a noted path shows. */
  get folders(): ReadonlySet<string> {
    const found = new Set<string>();
    for (const [path, { kind }] of this.#states) {
      found.add(existing(kind === 'folder' ? path : dirname(path)));
      const real = realPath(path);
      if (real !== null && real !== path) found.add(dirname(real));
    }
    return found;
  }

  #note(path: string, kind: Kind): void {
    const at = resolve(path);
    // The first look counts: a change between two looks is a change.
    if (!this.#states.has(at)) this.#states.set(at, { kind, state: stateOf(at, kind) });
  }
}

type Kind = 'file' | 'folder';

const MISSING = 'missing';

function stateOf(path: string, kind: Kind): string {
  try {
    if (kind === 'folder') return JSON.stringify(readdirSync(path).filter(isVisible).sort());
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino}:${size}:${mtimeMs}`;
  } catch {
    return MISSING;
  }
}

/** Returns false for hidden files and the temporary files of editors. */
function isVisible(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('~');
}

/** The nearest folder above that is there. */
function existing(folder: string): string {
  let at = folder;
  while (!isFolder(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
