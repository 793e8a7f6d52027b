/** Checks of configs that features bring, for the compiler. */
import type { CREDENTIAL_KINDS, JsonObject } from '../artifact/format.ts';
import type { CodeWithOwnHints } from '../spec/error-codes.ts';

/** Throws an Error, with line and column in the expression, if it is malformed. */
export type ReadCondition = (text: string) => {
  readonly headers: ReadonlySet<string>;
  /** Members of `request` that it reads. */
  readonly parts: ReadonlySet<string>;
};

/** Files of the project that a config may name, by their paths from the folder of the document that uses it. */
export interface NamedFiles {
  /** Returns the files with this path, in which `*` stands for any characters of one name; sorted. */
  matching(path: string): readonly string[];
  /** Returns the content of a file; undefined if the project lacks it. */
  read(path: string): Uint8Array | undefined;
}

/** A fault, or something to note, that a DataCompiler has found. */
export interface DataFinding {
  readonly code: CodeWithOwnHints;
  readonly message: string;
  readonly hint: string;
  /** Place in the config, as a JSON pointer: the value that leads to the fault. */
  readonly pointer: string;
  /** Place in a file of the project, if that is where to correct it; lines and columns count from 1. */
  readonly at?: { readonly file: string; readonly line: number; readonly column: number };
}

export interface CompiledData {
  /** Null after an error. */
  readonly bytes: Uint8Array | null;
  readonly findings: readonly DataFinding[];
  /** Checks a config against the entry: the parts of it that do not change the entry. */
  check(config: JsonObject): readonly DataFinding[];
}

/** Makes an entry of the artifact from a config and the files that it names (`x-gw-data` in the config's schema). */
export interface DataCompiler {
  /** Property of the config that gets the name of the entry. */
  readonly property: string;
  /** Returns the part of a config that the entry depends on: with equal parts and files, entries are equal. */
  sourcesOf(config: JsonObject): JsonObject;
  compile(config: JsonObject, files: NamedFiles): CompiledData;
}

export interface ConfigFeatures {
  /** Reports whether a text of a config is a hash, by the kind of its credential. */
  readonly isHash: { readonly [Kind in Exclude<(typeof CREDENTIAL_KINDS)[number], 'hmac'>]: (text: string) => boolean };
  /** Loads the compiler of CEL conditions, which takes longer than compiling a small project. */
  readonly loadConditions: () => Promise<ReadCondition>;
  /** Load the compilers of data by the kind that a schema names. */
  readonly loadDataCompiler: { readonly [kind: string]: () => Promise<DataCompiler> };
}
