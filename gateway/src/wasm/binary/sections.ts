/** Reads the sections of a module that describe its functions. */
import { ByteReader } from './bytes.ts';
import { limit } from './limits.ts';
import { PluginLoadError } from './plugin-load-error.ts';
import type { FunctionImport, Signature, ValueType } from './types.ts';
import { valueType } from './types.ts';

const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const sectionNames = [
  'custom',
  'type',
  'import',
  'function',
  'table',
  'memory',
  'global',
  'export',
  'start',
  'element',
  'code',
  'data',
  'data count',
];

export interface Sections {
  readonly [id: number]: ByteReader;
}

export function readSections(source: Uint8Array): Sections {
  if (MAGIC.some((byte, at) => source[at] !== byte)) throw notValid();
  const reader = new ByteReader(source, 8);
  const sections: { [id: number]: ByteReader } = {};
  while (!reader.done) {
    const id = reader.u8();
    const content = reader.slice(reader.u32());
    if (id === 0) continue;
    if (id === 8) {
      throw new PluginLoadError('the module has a start section: export the function as `_initialize` instead');
    }
    if (id === 13) throw new PluginLoadError('the module uses exceptions (a tag section): compile it without');
    if (sectionNames[id] === undefined) throw new PluginLoadError(`the module has the unknown section ${id}`);
    if (sections[id]) throw notValid();
    sections[id] = content;
  }
  return sections;
}

/** A reader over a section again from its start, so that it can be read and then copied. */
export function again(section: ByteReader | undefined): ByteReader | undefined {
  return section && new ByteReader(section.bytes, section.at, section.end);
}

export function readValueType(reader: ByteReader): ValueType {
  const type = valueType(reader.u8());
  if (type === undefined) throw new PluginLoadError('the module uses garbage-collected types: compile it without');
  return type;
}

export function readTypes(section: ByteReader | undefined): Signature[] {
  const reader = again(section);
  const types: Signature[] = [];
  const list = (from: ByteReader) => Array.from({ length: limit('locals', from.u32()) }, () => readValueType(from));
  for (let left = limit('types', reader?.u32() ?? 0); reader && left > 0; left--) {
    if (reader.u8() !== 0x60) {
      throw new PluginLoadError('the module uses garbage-collected types: compile it without');
    }
    types.push({ params: list(reader), results: list(reader) });
  }
  return types;
}

export function readImports(section: ByteReader | undefined, types: readonly Signature[]): FunctionImport[] {
  const reader = again(section);
  const imports: FunctionImport[] = [];
  for (let left = limit('imports', reader?.u32() ?? 0); reader && left > 0; left--) {
    const module = reader.name();
    const name = reader.name();
    const kind = reader.u8();
    const signature = kind === 0 ? types[reader.u32()] : undefined;
    if (signature === undefined) {
      const what = ['function', 'table', 'memory', 'global', 'tag'][kind] ?? 'value';
      throw new PluginLoadError(
        `the module imports the ${what} ${module}.${name}: a plugin imports functions only and defines its own ${what}`,
      );
    }
    imports.push({ module, name, signature });
  }
  return imports;
}

export function readFunctions(section: ByteReader | undefined): number[] {
  const reader = again(section);
  if (!reader) return [];
  return Array.from({ length: limit('functions', reader.u32()) }, () => reader.u32());
}

export function notValid(): PluginLoadError {
  return new PluginLoadError('the file is not a valid WebAssembly module');
}
