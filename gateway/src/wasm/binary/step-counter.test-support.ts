/** Counts the instructions that a rewritten module runs between two looks at the clock, which the meter bounds. */
import { ByteReader, ByteWriter } from './bytes.ts';
import { readLocals } from './function-facts.ts';
import { REFUEL } from './injected.ts';
import { blankInstruction, readInstruction } from './instructions.ts';
import { FUEL } from './rewrite.ts';
import { TABLE_INSTRUCTIONS } from './written.ts';

const STEPS = 'steps';
/** Fuel between two looks, as cpu.ts gives it. */
const QUANTUM = 65_536;

/** Adds a global that is counted up before every instruction, exported as `steps`. */
function counted(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const reader = new ByteReader(wasm, 8);
  const out = new ByteWriter(wasm.length * 4).raw(wasm.subarray(0, 8));
  let steps = 0;
  while (!reader.done) {
    const id = reader.u8();
    const section = reader.slice(reader.u32());
    if (id === 6) {
      steps = section.u32();
      const rest = section.bytes.subarray(section.at, section.end);
      const own = new Uint8Array([0x7e, 1, 0x42, 0, 0x0b]);
      out.u8(id).block(
        new ByteWriter()
          .u32(steps + 1)
          .raw(rest)
          .raw(own),
      );
    } else if (id === 7) {
      const count = section.u32();
      const rest = section.bytes.subarray(section.at, section.end);
      out.u8(id).block(
        new ByteWriter()
          .u32(count + 1)
          .raw(rest)
          .name(STEPS)
          .u8(3)
          .u32(steps),
      );
    } else if (id === 10) out.u8(id).block(countedCode(section, steps));
    else out.u8(id).block(new ByteWriter().raw(section.bytes.subarray(section.at, section.end)));
  }
  return new Uint8Array(out.take());
}

function countedCode(section: ByteReader, steps: number): ByteWriter {
  const out = new ByteWriter((section.end - section.at) * 4);
  const count = section.u32();
  out.u32(count);
  const instruction = blankInstruction();
  const step = new ByteWriter().u8(0x23).u32(steps).u8(0x42).u8(1).u8(0x7c).u8(0x24).u32(steps).take();
  for (let left = count; left > 0; left--) {
    const code = section.slice(section.u32());
    const start = code.at;
    readLocals(code);
    const body = new ByteWriter((code.end - start) * 8).raw(code.bytes.subarray(start, code.at));
    while (!code.done) {
      const at = code.at;
      const injected = TABLE_INSTRUCTIONS.find((bytes) => bytes.every((byte, i) => code.bytes[at + i] === byte));
      if (injected) code.skip(injected.length);
      else readInstruction(code, instruction);
      body.raw(step).raw(code.bytes.subarray(at, code.at));
    }
    out.block(body);
  }
  return out;
}

export interface Counted {
  /** Most instructions that ran between two looks at the clock, those that the meter added with them. */
  readonly most: number;
  readonly looks: number;
}

class Enough extends Error {}

/** Runs an export of a rewritten module until it ends, or has looked at the clock `looks` times. */
export function stepsBetweenLooks(metered: Uint8Array, name: string, looks: number): Counted {
  const module = new WebAssembly.Module(counted(metered));
  let exports: WebAssembly.Instance['exports'] = {};
  const globalOf = (key: string): WebAssembly.Global => {
    const value = exports[key];
    if (!(value instanceof WebAssembly.Global)) throw new Error(`no global ${key}`);
    return value;
  };
  let most = 0;
  let seen = 0;
  const look = () => {
    most = Math.max(most, Number(globalOf(STEPS).value));
    globalOf(STEPS).value = 0n;
  };
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: from, name: fn } of WebAssembly.Module.imports(module)) {
    const functions = imports[from] ?? {};
    imports[from] = functions;
    functions[fn] =
      from !== REFUEL.module
        ? () => 0
        : () => {
            look();
            if (++seen >= looks) throw new Enough();
            return QUANTUM;
          };
  }
  exports = new WebAssembly.Instance(module, imports).exports;
  globalOf(FUEL).value = QUANTUM;
  const entry = exports[name];
  if (typeof entry !== 'function') throw new Error(`no export ${name}`);
  try {
    Reflect.apply(entry, undefined, []);
  } catch (error) {
    const expected =
      error instanceof Enough || error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    if (!expected) throw error;
  }
  look();
  return { most, looks: seen };
}
