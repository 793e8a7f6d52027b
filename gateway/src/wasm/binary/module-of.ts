/**
 * Writes small modules byte by byte, for tests: some that toolchains do not emit, and some that gateways must refuse.
 */
import type { ArtifactPlugin } from '../../artifact/format.ts';
import { ByteWriter } from './bytes.ts';

/** A plugin named `x`, a middleware without capabilities unless said otherwise. */
export function plugin(
  more: Partial<ArtifactPlugin> = {},
  capabilities: Partial<ArtifactPlugin['capabilities']> = {},
): ArtifactPlugin {
  return {
    name: 'x',
    version: '1.0.0',
    plugin_type: 'middleware',
    wasm_path: 'plugins/x.wasm',
    sha256: '',
    capabilities: {
      body_access: false,
      host_functions: [],
      request_body: 'none',
      response_body: 'none',
      ...capabilities,
    },
    ...more,
  };
}

/** Types of the modules below, by index. */
const types = [
  [0x60, 0, 1, 0x7f], // 0: () -> i32
  [0x60, 3, 0x7f, 0x7f, 0x7f, 0], // 1: (i32, i32, i32) -> ()
  [0x60, 0, 0], // 2: () -> ()
  [0x60, 2, 0x7f, 0x7f, 0], // 3: (i32, i32) -> ()
  [0x60, 1, 0x7f, 1, 0x7f], // 4: (i32) -> i32
  [0x60, 3, 0x7f, 0x7f, 0x7f, 1, 0x7f], // 5: (i32, i32, i32) -> i32
  [0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f], // 6: (i32, i32, i32, i32) -> i32
  [0x60, 0, 1, 0x7c], // 7: () -> f64
  [0x60, 2, 0x7f, 0x7f, 1, 0x7f], // 8: (i32, i32) -> i32
  [0x60, 1, 0x7f, 0], // 9: (i32) -> ()
];

export interface Parts {
  /** Module and name of imported functions, and their type; default 1. */
  readonly imports?: readonly (readonly [string, string, type?: number])[];
  /** A raw import entry, after the functions. */
  readonly rawImport?: readonly number[];
  /** Exported functions, their types, and their code if it is not the one below. */
  readonly functions?: readonly (readonly [string, type: number, code?: readonly number[] | Uint8Array])[];
  readonly memory?: readonly number[] | null;
  readonly exportMemory?: boolean;
  /** Body of every function of type 0. */
  readonly code?: readonly number[];
  /** Declarations of locals of every function. */
  readonly locals?: readonly number[];
  /** Types after those of every module, from index 10 on. */
  readonly types?: readonly (readonly number[])[];
  /** Further sections: id and content. */
  readonly sections?: readonly (readonly [number, readonly number[] | Uint8Array])[];
}

/** Writes a module of a few functions; by default an empty middleware. */
export function moduleOf(parts: Parts = {}): Uint8Array {
  const { imports = [], rawImport, locals = [0], memory = [0, 1], code = [0x41, 0, 0x0b] } = parts;
  const {
    functions = [
      ['init', 0],
      ['on_request', 0],
    ],
  } = parts;
  const raw = (bytes: readonly number[] | Uint8Array) => (bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
  const out = new ByteWriter().raw(raw([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  const section = (id: number, content: ByteWriter) => out.u8(id).block(content);
  const given = (id: number) => {
    for (const [at, content] of parts.sections ?? []) if (at === id) section(id, new ByteWriter().raw(raw(content)));
  };
  const allTypes = [...types, ...(parts.types ?? [])];
  section(1, new ByteWriter().u32(allTypes.length).raw(raw(allTypes.flat())));
  const importSection = new ByteWriter().u32(imports.length + (rawImport ? 1 : 0));
  for (const [from, name, type = 1] of imports) importSection.name(from).name(name).u8(0).u32(type);
  section(2, rawImport ? importSection.raw(raw(rawImport)) : importSection);
  const typeIndices = new ByteWriter().u32(functions.length);
  for (const [, type] of functions) typeIndices.u32(type);
  section(3, typeIndices);
  given(4);
  if (memory) section(5, new ByteWriter().u32(1).raw(raw(memory)));
  given(6);
  const exported = memory !== null && parts.exportMemory !== false;
  const exports = new ByteWriter().u32(functions.length + (exported ? 1 : 0));
  for (const [index, [name]] of functions.entries())
    exports
      .name(name)
      .u8(0)
      .u32(imports.length + index);
  if (exported) exports.name('memory').u8(2).u32(0);
  section(7, exports);
  for (const id of [8, 9, 12]) given(id);
  const bodies = new ByteWriter().u32(functions.length);
  for (const [, type, own] of functions) {
    bodies.block(new ByteWriter().raw(raw(locals)).raw(raw(own ?? (type === 0 ? code : [0x0b]))));
  }
  section(10, bodies);
  given(11);
  return out.take();
}
