/**
 * Reads a plugin's module and writes the one that runs: metered, its memory capped, its mutable globals settable,
 * without custom sections. Refuses modules that the ABI forbids, naming the section or instruction.
 */

import { ByteReader, ByteWriter } from './bytes.ts';
import { functionsToGuard } from './call-graph.ts';
import { checkComplexity } from './complexity.ts';
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
  writtenIndex,
} from './injected.ts';
import { blankInstruction, readInstruction } from './instructions.ts';
import { limit, MODULE_LIMITS } from './limits.ts';
import { meterFunction } from './meter.ts';
import { PluginLoadError } from './plugin-load-error.ts';
import {
  again,
  notValid,
  readFunctions,
  readImports,
  readSections,
  readTypes,
  readValueType,
  type Sections,
} from './sections.ts';
import type { FunctionImport, MeteredModule, ModuleExport, MutableGlobal, Signature } from './types.ts';
import { type Blocks, blocksOf } from './written.ts';

/** Prefix of injected names; a module may not export names with it. */
const RESERVED = 'gw:';
/** The injected export: sets the fuel and every mutable global, and notes that no block of memory is written to. */
export const ENTER = 'gw:enter';
/** The injected export: returns which blocks of memory were written to, 32 bits of them. */
export const WRITTEN = 'gw:written';
/** The injected export of a second memory: which blocks of memory were written to, a byte for each (`written.ts`). */
export const TABLE = 'gw:table';
/** The injected export of the fuel, which host functions charge by the length of their work. */
export const FUEL = 'gw:fuel';
/** The injected exports of the mutable globals: this and their index. */
export const GLOBAL = 'gw:global:';

const PAGE = 65_536;
interface Checked {
  readonly sections: Sections;
  readonly types: readonly Signature[];
  readonly imports: readonly FunctionImport[];
  /** Types of the module's own functions. */
  readonly defined: readonly number[];
  /** Returns a signature by index of functions, imported ones first. */
  signatureOf(index: number): Signature | undefined;
}

/**
 * Throws PluginLoadError if the module is not valid, too large, or too complex. The engine validates it last: that
 * costs as much memory as compiling, and has no limits of its own.
 */
export function checkModule(source: Uint8Array<ArrayBuffer>): Checked {
  if (source.length > MODULE_LIMITS.bytes) {
    throw new PluginLoadError(`the module has ${source.length} bytes, of at most ${MODULE_LIMITS.bytes}`);
  }
  const sections = readSections(source);
  const types = readTypes(sections[1]);
  const imports = readImports(sections[2], types);
  const defined = readFunctions(sections[3]);
  const signatureOf = (index: number): Signature | undefined =>
    index < imports.length ? imports[index]?.signature : types[defined[index - imports.length] ?? -1];
  checkComplexity(sections[10], imports.length, { ofFunction: signatureOf, ofType: (index) => types[index] });
  if (!WebAssembly.validate(source)) throw notValid();
  return { sections, types, imports, defined, signatureOf };
}

/** Throws PluginLoadError if the module is not valid, too large, or uses features that the ABI refuses. */
export function rewriteModule(wasm: Uint8Array, memoryBytes: number): MeteredModule {
  const source = new Uint8Array(wasm);
  const { sections, types, imports, defined, signatureOf } = checkModule(source);
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
  const initialised = new Map<number, number>();
  const facts = readCode(sections[10], imports.length, refer, (segment) => {
    if (!initialised.has(segment)) initialised.set(segment, initialised.size);
  });
  const memory = cappedMemory(sections[5], memoryBytes);
  const layout: MeterLayout = {
    importedFunctions: imports.length,
    addedImports,
    fuel: globals.count,
    written: globals.count + 1,
    ...memory.blocks,
    types: types.length,
    functions: imports.length + addedImports + defined.length,
    initialised,
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
  section(5, memory.limits);
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
  if (data) section(11, checkedData(data));

  const bytes = new Uint8Array(out.take());
  if (!WebAssembly.validate(bytes))
    throw new PluginLoadError('the module cannot be metered: please report this module');
  return { bytes, imports, exports, mutableGlobals: globals.mutable, blockBits: layout.blockBits };
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
  for (let left = limit('tables', reader.u32()), all = 0; left > 0; left--) {
    readValueType(reader);
    const flags = reader.u8();
    if (flags > 1) throw new PluginLoadError('the module has a shared or 64-bit table: compile it without');
    all += reader.u32();
    limit('tableElements', all);
    if (flags === 1) reader.skipLeb();
  }
  return copyOf(section);
}

function checkedData(section: ByteReader): ByteWriter {
  limit('segments', new ByteReader(section.bytes, section.at, section.end).u32());
  return copyOf(section);
}

interface CappedMemory {
  readonly blocks: Blocks;
  /** The content of the section. */
  readonly limits: ByteWriter;
}

function cappedMemory(section: ByteReader | undefined, memoryBytes: number): CappedMemory {
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
  const blocks = blocksOf(first, most);
  const { tablePages } = blocks;
  const limits = new ByteWriter()
    .u32(tablePages === 0 ? 1 : 2)
    .u8(1)
    .u32(first)
    .u32(most);
  if (tablePages > 0) limits.u8(1).u32(tablePages).u32(tablePages);
  return { blocks, limits };
}

/** Copies a constant expression, its function indices moved. */
function copyExpression(from: ByteReader, to: ByteWriter, shift: (index: number) => number): void {
  const instruction = blankInstruction();
  for (;;) {
    const start = from.at;
    readInstruction(from, instruction);
    if (instruction.kind === 'ref.func') to.u8(0xd2).u32(shift(instruction.index));
    else to.raw(from.bytes.subarray(start, from.at));
    if (instruction.kind === 'end') return;
  }
}

function writeGlobals(section: ByteReader | undefined, { count }: Globals, shift: (i: number) => number): ByteWriter {
  const out = new ByteWriter().u32(count + 2);
  const reader = again(section);
  reader?.u32();
  for (let left = count; reader && left > 0; left--) {
    out.u8(reader.u8()).u8(reader.u8());
    copyExpression(reader, out, shift);
  }
  out.u8(0x7f).u8(1).u8(0x41).u8(0).u8(0x0b); // the fuel: a mutable i32, 0
  return out.u8(0x7e).u8(1).u8(0x42).u8(0).u8(0x0b); // the blocks that were written to: a mutable i64, 0
}

function writeExports(
  section: ByteReader | undefined,
  mutable: readonly MutableGlobal[],
  shift: (index: number) => number,
  layout: MeterLayout,
): ByteWriter {
  const reader = again(section);
  const count = reader?.u32() ?? 0;
  const hasTable = layout.tablePages > 0;
  const out = new ByteWriter().u32(count + mutable.length + (hasTable ? 4 : 3));
  for (let left = count; reader && left > 0; left--) {
    out.name(reader.name());
    const kind = reader.u8();
    const index = reader.u32();
    out.u8(kind).u32(kind === 0 ? shift(index) : index);
  }
  for (const { index } of mutable) out.name(`${GLOBAL}${index}`).u8(3).u32(index);
  out.name(FUEL).u8(3).u32(layout.fuel).name(ENTER).u8(0).u32(enterIndex(layout));
  if (hasTable) out.name(TABLE).u8(2).u32(1);
  return out.name(WRITTEN).u8(0).u32(writtenIndex(layout));
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
