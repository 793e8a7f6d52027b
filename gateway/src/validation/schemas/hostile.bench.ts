/**
 * Looks for schemas and values that hold up the event loop longer than validation may there: hill climbing over schemas
 * that people write (composition, recursion, `unevaluated…`, `uniqueItems`, enumerations, patterns with counts) and values
 * made to be expensive for them. `node gateway/src/validation/schemas/hostile.bench.ts [SECONDS] [SEED]` prints the worst pairs
 * that it has found: milliseconds on the event loop, without compiling.
 */
import { performance } from 'node:perf_hooks';
import type { Json, JsonObject } from '../../artifact/format.ts';
import { MOST_INLINE_UNITS, StepBudget, StepsExceeded } from '../../patterns/step-budget.ts';
import { HostileSchemas, IDS } from './hostile-schemas.test-support.ts';
import { Schemas } from './schemas.ts';

const SECONDS = Number(process.argv[2] ?? 30);
const SEED = Number(process.argv[3] ?? 1);
/** Bytes of the longest value that is validated on the event loop. */
const MOST_BYTES = 128 << 10;
/** Number of values kept for further mutation. */
const POOL = 24;
/** As on the event loop. */
const LIMIT = { ms: 5, piece: MOST_INLINE_UNITS };

const made = new HostileSchemas(SEED);

interface Pair {
  readonly table: JsonObject;
  readonly value: Json;
  readonly ms: number;
}

/** Milliseconds until the value is judged, or handed over; null: the schemas do not compile, or too slowly. */
function measure(table: JsonObject, given: Json): number | null {
  const text = JSON.stringify(given);
  if (text.length > MOST_BYTES) return null;
  const steps = new StepBudget(1_000_000);
  const schemas = new Schemas(table, false, steps);
  const root = { $ref: 'gw:root' };
  try {
    if (schemas.isHeavy(root)) return null;
    schemas.compile(root);
  } catch {
    return null;
  }
  const validate = schemas.validator(root);
  let best = Number.POSITIVE_INFINITY;
  // The first runs also compile lazily, and are not measured.
  for (let i = 0; i < 5; i++) {
    const parsed: Json = JSON.parse(text);
    steps.begin(0, text.length, LIMIT);
    // Other work on the machine does not count.
    const from = process.threadCpuUsage();
    try {
      validate(parsed);
    } catch (error) {
      if (!(error instanceof StepsExceeded || error instanceof RangeError)) throw error;
    }
    const { user, system } = process.threadCpuUsage(from);
    if (i > 1) best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

function changed({ table, value: given }: Pair): Omit<Pair, 'ms'> {
  const kind = made.below(4);
  if (kind === 0) return { table, value: made.value(MOST_BYTES * made.random()) };
  if (kind === 1) return { table, value: made.nested(given, 10) };
  const id = made.oneOf(IDS);
  if (kind === 2) return { table: { ...table, [id]: made.schema(1 + made.below(3)) }, value: given };
  return { table: { ...table, [id]: { anyOf: made.many(3, () => table[id] as Json) } }, value: given };
}

const pool: Pair[] = [];
let tried = 0;
const until = performance.now() + SECONDS * 1000;
while (performance.now() < until) {
  const from = pool.length > 4 && made.random() < 0.7 ? made.oneOf(pool) : null;
  const next = from ? changed(from) : { table: made.table(), value: made.value(MOST_BYTES * made.random()) };
  const ms = measure(next.table, next.value);
  tried++;
  if (ms === null) continue;
  pool.push({ ...next, ms });
  pool.sort((a, b) => b.ms - a.ms);
  pool.length = Math.min(pool.length, POOL);
}

console.log(`${tried} pairs in ${SECONDS} s, seed ${SEED}; milliseconds on the event loop, the worst first`);
for (const { table, value: given, ms } of pool.slice(0, 5)) {
  const text = JSON.stringify(given);
  console.log(`${ms.toFixed(1)} ms, ${text.length} bytes: ${JSON.stringify(table).slice(0, 300)}`);
  console.log(`  value ${text.slice(0, 120)}`);
}
