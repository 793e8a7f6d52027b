/**
 * Types that the runtime uses of the WebAssembly JavaScript interface and of JavaScript Promise Integration (JSPI).
 * TypeScript declares them in its DOM library only, which does not suit a server.
 */
declare namespace WebAssembly {
  type ImportValue = ((...args: number[]) => unknown) | Suspending;
  type ExportValue = ((...args: never[]) => unknown) | Memory | Global | object;
  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: Module): readonly { readonly name: string; readonly kind: string }[];
    static imports(
      module: Module,
    ): readonly { readonly module: string; readonly name: string; readonly kind: string }[];
  }
  class Instance {
    constructor(module: Module, imports: { readonly [module: string]: { readonly [name: string]: ImportValue } });
    readonly exports: { readonly [name: string]: ExportValue };
  }
  class Memory {
    constructor(descriptor: { initial: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Global {
    constructor(descriptor: { value: string; mutable: boolean }, value: number);
    value: number | bigint;
  }
  class RuntimeError extends Error {}
  /** JSPI: an import whose promise suspends the plugin until it settles. */
  class Suspending {
    constructor(fn: (...args: number[]) => unknown);
  }
  /** JSPI: an export that may be suspended. */
  function promising(fn: (...args: never[]) => unknown): (...args: number[]) => Promise<number>;
  function compile(bytes: Uint8Array): Promise<Module>;
  function validate(bytes: Uint8Array): boolean;
}
