/** Facts about a module after reading it. */

export type ValueType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128' | 'funcref' | 'externref';

const names = new Map<number, ValueType>([
  [0x7f, 'i32'],
  [0x7e, 'i64'],
  [0x7d, 'f32'],
  [0x7c, 'f64'],
  [0x7b, 'v128'],
  [0x70, 'funcref'],
  [0x6f, 'externref'],
]);

/** Bytes of the types of numbers. */
export const valueByte = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;

/** Returns the value type of a byte; undefined for those of unsupported proposals. */
export function valueType(byte: number): ValueType | undefined {
  return names.get(byte);
}

export interface Signature {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
}

export interface FunctionImport {
  readonly module: string;
  readonly name: string;
  readonly signature: Signature;
}

export interface ModuleExport {
  readonly name: string;
  readonly kind: 'function' | 'table' | 'memory' | 'global';
  /** Signature of functions. */
  readonly signature: Signature | undefined;
}

export interface MutableGlobal {
  readonly index: number;
  readonly type: 'i32' | 'i64' | 'f32' | 'f64';
}

/** A module made safe to run: metered, capped, its state within the host's reach. */
export interface MeteredModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly imports: readonly FunctionImport[];
  readonly exports: readonly ModuleExport[];
  /** In the order of the parameters of `gw:enter` after the fuel. */
  readonly mutableGlobals: readonly MutableGlobal[];
  /** Binary logarithm of the size of the blocks of memory that are noted when they are written to (`written.ts`). */
  readonly blockBits: number;
}

export function describeSignature({ params, results }: Signature): string {
  return `(${params.join(', ')}) -> ${results.length === 0 ? '()' : results.join(', ')}`;
}
