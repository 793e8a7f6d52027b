/**
 * Reads a plugin's module and writes the one that runs: metered, its memory capped, its mutable globals settable,
 * without custom sections. What the ABI refuses is refused here, with the section or instruction named.
 */

import { ByteReader, ByteWriter } from './bytes.ts';
import { functionsToGuard } from './call-graph.ts';
import { type FunctionFacts, factsOf } from './function-facts.ts';
import {
  enterIndex,
  INJECTED_TYPES,
  injectedFunctions,
  type MeterLayout,
  REFUEL,
  writeInjectedCode,
  writeInjectedImports,
  writeInjectedTypes,
} from './injected.ts';
import { type Instruction, readInstruction } from './instructions.ts';
import { limit, MODULE_LIMITS } from './limits.ts';
import { meterFunction } from './meter.ts';
import { PluginLoadError } from './plugin-load-error.ts';
import type { FunctionImport, MeteredModule, ModuleExport, MutableGlobal, Signature, ValueType } from './types.ts';
import { valueType } from './types.ts';

/** Names of what is injected; a module may not export names with this prefix. */
export const RESERVED = 'gw:';
/** The injected export: sets the fuel and every mutable global. */
export const ENTER = 'gw:enter';
/** The injected export of the fuel, which host functions take from by the length of what they do. */
export const FUEL = 'gw:fuel';
/** The injected exports of the mutable globals: this and their index. */
export const GLOBAL = 'gw:global:';

const PAGE = 65_536;
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

interface Sections {
  readonly [id: number]: ByteReader;
}

/** Throws PluginLoadError where the module is not valid, too large, or uses what the ABI refuses. */
export function rewriteModule(wasm: Uint8Array, memoryBytes: number): MeteredModule {
  if (wasm.length > MODULE_LIMITS.bytes) {
    throw new PluginLoadError(`the module has ${wasm.length} bytes, of at most ${MODULE_LIMITS.bytes}`);
  }
  const source = new Uint8Array(wasm);
  if (!WebAssembly.validate(source)) throw new PluginLoadError('the file is not a valid WebAssembly module');
  const sections = readSections(source);
  const types = readTypes(sections[1]);
  const imports = readImports(sections[2], types);
  const defined = readFunctions(sections[3]);
  const signatureOf = (index: number): Signature | undefined =>
    index < imports.length ? imports[index]?.signature : types[defined[index - imports.length] ?? -1];
  const globals = readGlobals(sections[6]);
  const exports = readExports(sections[7], signatureOf);
  const addedImports = REFUEL.names.length;
  const shift = (index: number) => (index < imports.length ? index : index + addedImports);
  /** The module's own functions that a call through a table may reach. */
  const referred = new Set<number>();
  const refer = (index: number) => {
    if (index >= imports.length) referred.add(index - imports.length);
    return shift(index);
  };
  const initialised = new Set<number>();
  const facts = readCode(sections[10], imports.length, refer, (segment) => initialised.add(segment));
  const layout: MeterLayout = {
    importedFunctions: imports.length,
    addedImports,
    fuel: globals.count,
    types: types.length,
    functions: imports.length + addedImports + defined.length,
    initialised: [...initialised],
  };

  const out = new ByteWriter(source.length * 2).raw(source.subarray(0, 8));
  const section = (id: number, content: ByteWriter) => out.u8(id).block(content);

  section(
    1,
    appendTo(sections[1], types.length, INJECTED_TYPES, (to) => writeInjectedTypes(to, globals.mutable)),
  );
  section(
    2,
    appendTo(sections[2], imports.length, addedImports, (to) => writeInjectedImports(to, layout)),
  );
  const injected = injectedFunctions(layout);
  section(
    3,
    appendTo(sections[3], defined.length, injected.length, (to) => {
      for (const type of injected) to.u32(layout.types + type);
    }),
  );
  const tables = sections[4];
  if (tables) section(4, checkedTables(tables));
  section(5, cappedMemory(sections[5], memoryBytes));
  section(6, writeGlobals(sections[6], globals, refer));
  section(7, writeExports(sections[7], globals.mutable, shift, layout));
  const elements = sections[9];
  if (elements) section(9, writeElements(elements, refer));
  const dataCount = sections[12];
  if (dataCount) section(12, copyOf(dataCount));
  const guarded = functionsToGuard(facts, referred);
  const paramsOf = (own: number) => types[defined[own] ?? -1]?.params.length ?? 0;
  section(10, writeCode(sections[10], { facts, guarded, paramsOf, layout, mutable: globals.mutable }));
  const data = sections[11];
  if (data) section(11, copyOf(data));

  const bytes = new Uint8Array(out.take());
  if (!WebAssembly.validate(bytes))
    throw new PluginLoadError('the module cannot be metered: please report this module');
  return { bytes, imports, exports, mutableGlobals: globals.mutable };
}

function readSections(source: Uint8Array): Sections {
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
    sections[id] = content;
  }
  return sections;
}

/** A reader over a section again from its start, so that it can be read and then copied. */
function again(section: ByteReader | undefined): ByteReader | undefined {
  return section && new ByteReader(section.bytes, section.at, section.end);
}

function copyOf(section: ByteReader): ByteWriter {
  return new ByteWriter().raw(section.bytes.subarray(section.at, section.end));
}

/** A vector's section with more elements. */
function appendTo(
  section: ByteReader | undefined,
  count: number,
  more: number,
  write: (to: ByteWriter) => void,
): ByteWriter {
  const out = new ByteWriter().u32(count + more);
  const rest = again(section);
  if (rest) {
    rest.u32();
    out.raw(rest.bytes.subarray(rest.at, rest.end));
  }
  write(out);
  return out;
}

function readValueType(reader: ByteReader): ValueType {
  const type = valueType(reader.u8());
  if (type === undefined) throw new PluginLoadError('the module uses garbage-collected types: compile it without');
  return type;
}

function readTypes(section: ByteReader | undefined): Signature[] {
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

function readImports(section: ByteReader | undefined, types: readonly Signature[]): FunctionImport[] {
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

function readFunctions(section: ByteReader | undefined): number[] {
  const reader = again(section);
  if (!reader) return [];
  return Array.from({ length: limit('functions', reader.u32()) }, () => reader.u32());
}

interface Globals {
  readonly count: number;
  readonly mutable: readonly MutableGlobal[];
}

function readGlobals(section: ByteReader | undefined): Globals {
  const reader = again(section);
  const count = limit('globals', reader?.u32() ?? 0);
  const mutable: MutableGlobal[] = [];
  for (let index = 0; reader && index < count; index++) {
    const type = readValueType(reader);
    const isMutable = reader.u8() === 1;
    copyExpression(reader, new ByteWriter(), (i) => i);
    if (!isMutable) continue;
    if (type === 'v128' || type === 'funcref' || type === 'externref') {
      throw new PluginLoadError(
        `global ${index} of the module is mutable and of type ${type}, which cannot be put back between requests: make it constant`,
      );
    }
    mutable.push({ index, type });
  }
  return { count, mutable };
}

function readExports(
  section: ByteReader | undefined,
  signatureOf: (index: number) => Signature | undefined,
): ModuleExport[] {
  const reader = again(section);
  const exports: ModuleExport[] = [];
  const kinds = ['function', 'table', 'memory', 'global'] as const;
  for (let left = limit('exports', reader?.u32() ?? 0); reader && left > 0; left--) {
    const name = reader.name();
    const kind = kinds[reader.u8()];
    const index = reader.u32();
    if (kind === undefined) throw new PluginLoadError(`the module exports "${name}" of an unknown kind`);
    if (name.startsWith(RESERVED)) {
      throw new PluginLoadError(`the module exports "${name}": names that begin with "${RESERVED}" are the gateway's`);
    }
    exports.push({ name, kind, signature: kind === 'function' ? signatureOf(index) : undefined });
  }
  return exports;
}

function checkedTables(section: ByteReader): ByteWriter {
  const reader = new ByteReader(section.bytes, section.at, section.end);
  for (let left = limit('tables', reader.u32()); left > 0; left--) {
    readValueType(reader);
    const flags = reader.u8();
    if (flags > 1) throw new PluginLoadError('the module has a shared or 64-bit table: compile it without');
    limit('tableElements', reader.u32());
    if (flags === 1) reader.skipLeb();
  }
  return copyOf(section);
}

function cappedMemory(section: ByteReader | undefined, memoryBytes: number): ByteWriter {
  const reader = again(section);
  if (reader?.u32() !== 1) throw new PluginLoadError('the module must define exactly one memory');
  const flags = reader.u8();
  if (flags > 1) {
    throw new PluginLoadError('the module has a shared or 64-bit memory: compile it without threads and memory64');
  }
  const first = reader.u32();
  const cap = Math.floor(memoryBytes / PAGE);
  if (first > cap) {
    throw new PluginLoadError(`the module begins with ${first * PAGE} bytes of memory, of at most ${cap * PAGE}`);
  }
  const most = flags === 1 ? Math.min(reader.u32(), cap) : cap;
  return new ByteWriter().u32(1).u8(1).u32(first).u32(most);
}

/** Copies a constant expression, its function indices moved. */
function copyExpression(from: ByteReader, to: ByteWriter, shift: (index: number) => number): void {
  const instruction: Instruction = { kind: 'plain', opcode: 0, index: 0 };
  for (;;) {
    const start = from.at;
    readInstruction(from, instruction);
    if (instruction.kind === 'ref.func') to.u8(0xd2).u32(shift(instruction.index));
    else to.raw(from.bytes.subarray(start, from.at));
    if (instruction.kind === 'end') return;
  }
}

function writeGlobals(section: ByteReader | undefined, { count }: Globals, shift: (i: number) => number): ByteWriter {
  const out = new ByteWriter().u32(count + 1);
  const reader = again(section);
  reader?.u32();
  for (let left = count; reader && left > 0; left--) {
    out.u8(reader.u8()).u8(reader.u8());
    copyExpression(reader, out, shift);
  }
  return out.u8(0x7f).u8(1).u8(0x41).u8(0).u8(0x0b); // the fuel: a mutable i32, 0
}

function writeExports(
  section: ByteReader | undefined,
  mutable: readonly MutableGlobal[],
  shift: (index: number) => number,
  layout: MeterLayout,
): ByteWriter {
  const reader = again(section);
  const count = reader?.u32() ?? 0;
  const out = new ByteWriter().u32(count + mutable.length + 2);
  for (let left = count; reader && left > 0; left--) {
    out.name(reader.name());
    const kind = reader.u8();
    const index = reader.u32();
    out.u8(kind).u32(kind === 0 ? shift(index) : index);
  }
  for (const { index } of mutable) out.name(`${GLOBAL}${index}`).u8(3).u32(index);
  return out.name(FUEL).u8(3).u32(layout.fuel).name(ENTER).u8(0).u32(enterIndex(layout));
}

/** Element segments in their eight forms (core specification 5.5.12). */
function writeElements(section: ByteReader, shift: (index: number) => number): ByteWriter {
  const reader = new ByteReader(section.bytes, section.at, section.end);
  const out = new ByteWriter(section.end - section.at + 64);
  const segments = limit('segments', reader.u32());
  out.u32(segments);
  for (let left = segments, all = 0; left > 0; left--) {
    const form = reader.u32();
    if (form > 7) throw new PluginLoadError('the module has an element segment of an unknown form');
    out.u32(form);
    const active = (form & 1) === 0;
    if (active && (form & 2) !== 0) out.u32(reader.u32());
    if (active) copyExpression(reader, out, shift);
    if ((form & 3) !== 0) out.u8(reader.u8()); // the kind or type of the elements
    const count = reader.u32();
    all += count;
    limit('elements', all);
    out.u32(count);
    for (let i = 0; i < count; i++) {
      if ((form & 4) === 0) out.u32(shift(reader.u32()));
      else copyExpression(reader, out, shift);
    }
  }
  return out;
}

function readCode(
  section: ByteReader | undefined,
  importedFunctions: number,
  refer: (index: number) => void,
  init: (segment: number) => void,
): FunctionFacts[] {
  const reader = again(section);
  const facts: FunctionFacts[] = [];
  for (let left = reader?.u32() ?? 0; reader && left > 0; left--) {
    facts.push(factsOf(reader.slice(limit('functionBytes', reader.u32())), importedFunctions, refer, init));
  }
  return facts;
}

interface CodePlan {
  readonly facts: readonly FunctionFacts[];
  /** 1 for each function that looks at the clock after its calls. */
  readonly guarded: Uint8Array;
  paramsOf(own: number): number;
  readonly layout: MeterLayout;
  readonly mutable: readonly MutableGlobal[];
}

function writeCode(section: ByteReader | undefined, plan: CodePlan): ByteWriter {
  const { facts, guarded, paramsOf, layout, mutable } = plan;
  const costOfCalling = (own: number) => Math.max(0, facts[own]?.paidByCaller ?? 0);
  const reader = again(section);
  const count = reader?.u32() ?? 0;
  const out = new ByteWriter((section ? section.end - section.at : 0) * 2 + 64);
  out.u32(count + injectedFunctions(layout).length);
  for (let own = 0; reader && own < count; own++) {
    const body = reader.slice(reader.u32());
    const paidByCaller = costOfCalling(own) > 0;
    out.block(
      meterFunction(body, { params: paramsOf(own), guarded: guarded[own] === 1, paidByCaller, costOfCalling }, layout),
    );
  }
  writeInjectedCode(out, layout, mutable);
  return out;
}
