/** Entries of the artifact that are made from configs and the files that these name (`x-gw-data`). */
import { hash } from 'node:crypto';
import { canonicalJson, sortedMembers } from '../../artifact/canonical-json.ts';
import type { JsonObject } from '../../artifact/format.ts';
import type { CompiledData, DataCompiler, DataFinding, NamedFiles } from '../../capability/config-checks.ts';
import type { Diagnostics, Place } from '../../spec/diagnostic.ts';
import { ERROR_CODES } from '../../spec/error-codes.ts';
import type { Project, ProjectFile } from '../project/project.ts';
import type { PreparedPlugin } from './plugins.ts';

/** An entry of the artifact. */
export interface DataEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A use of a plugin in a document. */
interface ConfigUse {
  /** File of the document, in whose folder paths begin. */
  readonly spec: string;
  /** Returns the place of a value of the config. */
  place(pointer: string): Place;
}

export class ConfigData {
  readonly #diagnostics: Diagnostics;
  readonly #compilers: ReadonlyMap<string, DataCompiler>;
  readonly #files: ReadonlyMap<string, ProjectFile>;
  /** By kind, folder and what the entry depends on. */
  readonly #compiled = new Map<string, CompiledData>();
  readonly #entries = new Map<string, Uint8Array>();

  constructor({ files }: Project, diagnostics: Diagnostics, compilers: ReadonlyMap<string, DataCompiler>) {
    this.#diagnostics = diagnostics;
    this.#compilers = compilers;
    this.#files = new Map(files.map((file) => [file.name, file]));
  }

  /** Entries, sorted by path. */
  get entries(): readonly DataEntry[] {
    return [...this.#entries].map(([path, bytes]) => ({ path, bytes })).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /**
   * Returns the config with the path of its entry; as it is, if its plugin needs no entry; null, with diagnostics, if
   * there are errors.
   */
  add({ name, marks }: PreparedPlugin, config: JsonObject, { spec, place }: ConfigUse): JsonObject | null {
    const { data: kind } = marks;
    if (kind === null) return config;
    const compiler = this.#compilers.get(kind);
    if (compiler === undefined) {
      const message = `plugin "${name}": its schema names data of the kind "${kind}", which this version of gw does not make`;
      this.#diagnostics.add('E1042', place(''), message, 'Use a version of the plugin that is made for this gw.');
      return null;
    }
    const folder = spec.slice(0, spec.lastIndexOf('/') + 1);
    const key = `${kind}\0${folder}\0${canonicalJson(compiler.sourcesOf(config))}`;
    const compiled = this.#compiled.get(key) ?? compiler.compile(config, this.#filesIn(folder));
    this.#compiled.set(key, compiled);
    const findings = [...compiled.findings, ...compiled.check(config)];
    for (const finding of findings) this.#report(name, finding, folder, place);
    if (compiled.bytes === null || findings.some(isError)) return null;
    const path = `${kind}/${hash('sha256', compiled.bytes)}`;
    this.#entries.set(path, compiled.bytes);
    return sortedMembers({ ...config, [compiler.property]: path });
  }

  #report(plugin: string, finding: DataFinding, folder: string, place: ConfigUse['place']): void {
    const { code, message, hint, pointer, at } = finding;
    if (at) {
      const { file, line, column } = at;
      this.#diagnostics.addAt(code, folder + file, { line, column }, message, hint);
    } else this.#diagnostics.add(code, place(pointer), `plugin "${plugin}": ${message}`, hint);
  }

  #filesIn(folder: string): NamedFiles {
    return {
      matching: (path) => {
        const names = [...this.#files.keys()].filter((name) => name.startsWith(folder));
        return names
          .map((name) => name.slice(folder.length))
          .filter((name) => matchesPath(path, name))
          .sort();
      },
      read: (path) => {
        try {
          return this.#files.get(folder + path)?.bytes;
        } catch {
          // A folder's files are read on demand, and may be gone or unreadable by then.
          return undefined;
        }
      },
    };
  }
}

function isError({ code }: DataFinding): boolean {
  return ERROR_CODES[code].severity === 'error';
}

/** Reports whether a path has this form: `*` stands for any characters of one name, but not for a dot at its begin. */
function matchesPath(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const forms = pattern.split('/');
  return forms.length === parts.length && forms.every((form, i) => matchesName(form, parts[i] ?? ''));
}

/** Goes back to the last `*` only, so that the time is bounded by the product of the lengths. */
function matchesName(form: string, name: string): boolean {
  if (form.startsWith('*') && name.startsWith('.')) return false;
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let i = 0; i < name.length; ) {
    if (form[at] === '*') {
      star = at++;
      resume = i;
    } else if (form[at] === name[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resume;
    } else return false;
  }
  while (form[at] === '*') at++;
  return at === form.length;
}
