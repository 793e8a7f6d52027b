/**
 * Modules that would block an event loop, one for each shape: for the tests that count instructions between two looks
 * at the clock, and for `test/bench/plugin-gaps.ts`, which measures their effect on others.
 */
import type { ArtifactPlugin } from '../../artifact/format.ts';
import { moduleOf, type Parts, plugin } from './module-of.ts';

/** The functions that a plugin may export for the host to call. */
export type Hook =
  | 'init'
  | 'on_request'
  | 'on_response'
  | 'dispatch'
  | 'on_request_chunk'
  | 'on_request_end'
  | 'on_response_chunk'
  | 'on_response_end';

export interface Shape {
  readonly name: string;
  readonly wasm: () => Uint8Array;
  readonly plugin?: ArtifactPlugin;
  /** The hook that does it; default `on_request`. */
  readonly hook?: Hook;
}

type Code = readonly number[];

function leb(value: number): Code {
  let rest = value | 0;
  const out: number[] = [];
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return [...out, low];
    out.push(low | 0x80);
  }
}

function uleb(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...uleb(value >>> 7)];
}

const OK: Code = [0x41, 0];
const END = 0x0b;
const i32 = (value: number): Code => [0x41, ...leb(value)];
const call = (index: number): Code => [0x10, ...uleb(index)];
const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), 0x0c, 0, END];
const MIB = 1 << 20;
/** Bytes of code: about the longest function that loads, and one that can still be metered many times over. */
const LONGEST = 500_000;
const LONG = 100_000;

/** Straight code of so many bytes, or a little more. */
function straight(bytes: number, ...unit: readonly Code[]): Uint8Array {
  const each = unit.length === 0 ? [...i32(0), 0x1a] : unit.flat();
  const out = new Uint8Array(Math.ceil(bytes / each.length) * each.length);
  for (let at = 0; at < out.length; at += each.length) out.set(each, at);
  return out;
}

function join(...parts: readonly (Code | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (part instanceof Uint8Array ? part : Uint8Array.from(part))));
}

/** `init` is function 0 after the imports, `on_request` the next, then `more`: each with its type and its code. */
function shape(
  name: string,
  code: Code | Uint8Array,
  more: readonly (readonly [type: number, code: Code | Uint8Array])[] = [],
  parts: Parts & { readonly hook?: Hook } = {},
  capabilities: Partial<ArtifactPlugin['capabilities']> = {},
): Shape {
  const { hook = 'on_request', ...rest } = parts;
  return {
    name,
    hook,
    plugin: plugin({}, capabilities),
    wasm: () =>
      moduleOf({
        functions: [
          ['init', 0, [...OK, END]],
          [hook, 0, join(code, OK, [END])],
          ...more.map(([type, own], i) => [`f${i}`, type, join(own, [END])] as const),
        ],
        ...rest,
      }),
  };
}

const LARGE: Parts = { memory: [0, 0x80, 2] }; // 16 MiB
const TABLE: Parts = {
  sections: [
    [4, [1, 0x70, 0, 1]],
    [9, [1, 0, 0x41, 0, END, 1, 2]],
  ],
};
const fill = (length: number): Code => [...i32(0), ...i32(1), ...i32(length), 0xfc, 11, 0];
const copy = (to: number, from: number, length: number): Code => [
  ...i32(to),
  ...i32(from),
  ...i32(length),
  0xfc,
  10,
  0,
  0,
];
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const LOCALS: Parts = { locals: [1, 4, 0x7f] };
const FLOATS: Parts = { locals: [2, 2, 0x7f, 2, 0x7c] };
const f64 = (value: number): Code => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return [0x44, ...bytes];
};
/** Global 0 holds the depth, which `deeper` counts down. */
const DEPTH: Parts = { sections: [[6, [1, 0x7f, 1, 0x41, 0, END]]] };
const deeper = (code: Code | Uint8Array): Uint8Array =>
  join([0x23, 0, ...i32(1), 0x6b, 0x24, 0, 0x23, 0, 0x04, 0x40], code, [END]);
const start = (depth: number): Code => [...i32(depth), 0x24, 0];
const host = (name: string, type: number): Parts => ({ imports: [['gw_abi_1', name, type]] });
const LEAF: Code = Array.from({ length: 30 }, () => [...i32(0), 0x1a]).flat();

export const SHAPES: readonly Shape[] = [
  shape('an empty loop', loop()),
  shape('nested loops', loop([0x03, 0x40, ...i32(0), 0x0d, 0, END])),
  shape('a loop of a long body', join([0x03, 0x40], straight(200_000), [0x0c, 0, END])),
  shape('a straight line of 500 KB', straight(LONGEST)),
  shape('a straight line of 500 KB in a loop', join([0x03, 0x40], straight(LONGEST), [0x0c, 0, END])),
  shape('a straight line of divisions', straight(LONG, i32(7), i32(3), [0x6d, 0x1a])),
  shape('recursion without end', [...call(1), 0x1a]),
  shape(
    'recursion, and much after each call',
    loop(start(5_000), call(2)),
    [[2, deeper(join(call(2), straight(9_000)))]],
    DEPTH,
  ),
  shape(
    'recursion, and a little after each call',
    loop(start(8_000), call(2)),
    [[2, deeper(join(call(2), straight(90)))]],
    DEPTH,
  ),
  shape(
    'mutual recursion, and much after each call',
    loop(start(5_000), call(2)),
    [
      [2, deeper(join(call(3), straight(9_000)))],
      [2, join(call(2), straight(9_000))],
    ],
    DEPTH,
  ),
  shape(
    'recursion through a table',
    loop(start(5_000), call(2)),
    [[2, deeper(join(i32(0), [0x11, 2, 0], straight(9_000)))]],
    { sections: [...(TABLE.sections ?? []), ...(DEPTH.sections ?? [])].sort(([a], [b]) => a - b) },
  ),
  shape(
    'deep recursion, then a loop',
    join(start(8_000), call(2)),
    [[2, join([0x23, 0, 0x45, 0x04, 0x40], loop(), [END], deeper(call(2)))]],
    DEPTH,
  ),
  shape(
    'recursion from inside blocks',
    loop(start(5_000), call(2)),
    [
      [
        2,
        deeper(
          join([0x02, 0x40, 0x23, 0, 0x0d, 0], straight(3_000), [END], call(2), [0x02, 0x40], straight(9_000), [END]),
        ),
      ],
    ],
    DEPTH,
  ),
  shape(
    'a chain of 1,900 functions',
    loop(call(2)),
    Array.from({ length: 1_900 }, (_, i) => [2, join(i < 1_899 ? call(i + 3) : [], straight(1_200))] as const),
  ),
  shape('leaf calls in a straight line', straight(LONG, call(2)), [[2, LEAF]]),
  shape('long leaves called in a straight line', straight(LONG, call(2)), [[2, straight(LONG)]]),
  shape('leaf calls in a loop', loop(call(2)), [[2, LEAF]]),
  shape(
    'a leaf with a loop, in a straight line',
    straight(LONG, call(2)),
    [[2, [...i32(200), ...set(0), 0x03, 0x40, ...get(0), ...i32(1), 0x6b, 0x22, 0, 0x0d, 0, END]]],
    LOCALS,
  ),
  shape('calls through a table in a straight line', straight(LONG, i32(0), [0x11, 2, 0]), [[2, LEAF]], TABLE),
  shape('calls through a table in a loop', loop(i32(0), [0x11, 2, 0]), [[2, LEAF]], TABLE),
  shape('tail calls', call(2), [[2, [0x12, 2]]]),
  shape(
    'branches over whatever looks at the clock',
    loop(straightCode(4_000, [0x02, 0x40, ...i32(1), 0x0d, 0], call(2), [END])),
    [
      [2, call(3)],
      [2, deeper(call(2))],
    ],
    DEPTH,
  ),
  shape(
    'alternatives in a loop',
    loop(get(0), [0x04, 0x40], straightCode(900), [0x05], straightCode(900), [END]),
    [],
    LOCALS,
  ),
  shape(
    'br_table',
    loop([
      ...Array(50).fill([0x02, 0x40]).flat(),
      ...get(0),
      0x0e,
      49,
      ...Array.from({ length: 50 }, (_, i) => i),
      ...Array(50).fill(END),
    ]),
    [],
    LOCALS,
  ),
  shape(
    '5,000 locals, called in a loop',
    loop(call(2)),
    [
      [2, [0x41, 0, 0x0d, 0, ...call(3)]],
      [2, []],
    ],
    { locals: [1, ...uleb(5_000), 0x7e] },
  ),
  shape('memory.grow by nothing', loop(i32(0), [0x40, 0, 0x1a])),
  shape('memory.grow by a page, then a loop', loop(i32(1), [0x40, 0, 0x1a])),
  shape('memory that has grown, and a quick end', [...i32(1), 0x40, 0, 0x1a]),
  shape('memory that has grown, and a loop', [...i32(1), 0x40, 0, 0x1a, ...loop()]),
  shape(
    'memory that is touched for the first time',
    join(
      i32(255),
      [0x40, 0, 0x1a],
      loop(get(0), i32(1), [0x36, 2, 0], get(0), i32(4096), [0x6a], i32(0xffffff), [0x71], set(0)),
    ),
    [],
    LOCALS,
  ),
  shape('a memory of 16 MiB, and a quick end', [], [], LARGE),
  shape('a fill of 16 MiB', fill(16 * MIB), [], LARGE),
  shape('fills of 16 MiB in a straight line', straight(100_000, fill(16 * MIB)), [], LARGE),
  shape('fills of 64 KiB in a straight line', straight(100_000, fill(65_536)), [], LARGE),
  shape('fills of one byte in a straight line', straight(LONG, fill(1)), [], LARGE),
  shape('copies of 8 MiB, forwards', loop(copy(0, 8 * MIB, 8 * MIB)), [], LARGE),
  shape('copies of 15 MiB, overlapping', loop(copy(MIB, 0, 15 * MIB)), [], LARGE),
  shape('a fill beyond the end', loop([...i32(0), ...i32(1), ...i32(-1), 0xfc, 11, 0]), [], LARGE),
  shape('data of 4 MiB, again and again', loop(i32(0), i32(0), i32(4 * MIB), [0xfc, 8, 0, 0]), [], {
    ...LARGE,
    sections: [
      [12, [1]],
      [11, join([1, 1], uleb(4 * MIB), new Uint8Array(4 * MIB).fill(7))],
    ],
  }),
  shape('data of 6 MiB that every instance begins with', loop(), [], {
    ...LARGE,
    sections: [[11, join([1, 0, ...i32(0), END], uleb(6 * MIB), new Uint8Array(6 * MIB).fill(7))]],
  }),
  shape('square roots', loop(get(2), [0x9f, ...set(2)]), [], FLOATS),
  shape(
    'subnormal numbers',
    loop(...Array.from({ length: 20 }, () => [...f64(1e-310), ...f64(1.5), 0xa2, ...set(2)])),
    [],
    FLOATS,
  ),
  shape(
    'loads far apart',
    loop(get(0), [0x28, 2, 0, 0x1a], get(0), i32(1_048_583), [0x6a], i32(0xfffffc), [0x71], set(0)),
    [],
    { ...LARGE, ...LOCALS },
  ),
  shape('vectors', loop(...Array.from({ length: 20 }, () => [...i32(0), 0xfd, 0x0f, 0xfd, 0x62, 0x1a])), [], LOCALS),
  shape('host calls in a loop', loop([...call(0), 0x1a]), [], {
    ...host('time_now', 7),
    functions: withImport([0x03, 0x40, ...call(0), 0x1a, 0x0c, 0, END]),
  }),
  shape('host calls in a straight line', [], [], {
    ...host('time_now', 7),
    functions: withImport(straight(LONG, call(0), [0x1a])),
  }),
  shape('host calls with long texts', [], [], {
    ...LARGE,
    ...host('config_count', 8),
    functions: withImport(loop(i32(0), i32(MIB), call(0), [0x1a])),
  }),
  shape('host calls with texts of 16 MiB', [], [], {
    ...LARGE,
    ...host('config_count', 8),
    functions: withImport(straight(100_000, i32(0), i32(16 * MIB), call(0), [0x1a])),
  }),
  shape('long bodies written in a straight line', [], [], {
    ...LARGE,
    ...host('respond', 1),
    functions: withImport(straight(100_000, i32(200), i32(0), i32(16 * MIB), call(0))),
  }),
  shape('a trap', [0x00]),
  shape(
    'a trap below 5,000 calls',
    join(start(5_000), call(2)),
    [[2, join([0x23, 0, 0x45, 0x04, 0x40, 0, END], deeper(call(2)))]],
    DEPTH,
  ),
  shape('a loop in on_response', loop(), [], { hook: 'on_response' }),
  shape('a loop in on_request_chunk', loop(), [], { hook: 'on_request_chunk' }, { request_body: 'stream' }),
];

function straightCode(bytes: number, ...unit: readonly Code[]): Code {
  return [...straight(bytes, ...unit)];
}

/** The functions of a module that imports one. */
function withImport(code: Code | Uint8Array): Parts['functions'] & object {
  return [
    ['init', 0, [...OK, END]],
    ['on_request', 0, join(code, OK, [END])],
  ];
}
