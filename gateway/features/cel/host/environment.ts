/** The language as expressions of this gateway have it: the standard functions, those on strings, and every call metered. */
import { type CelEnv, type CelValue, celEnv, isCelList, isCelMap } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { type Matches, ownFunctions, RANGE, TICK } from './functions.ts';
import { type Meter, TEXT_STEP } from './meter.ts';
import { timestampParts } from './timestamps.ts';

type FuncGroup = NonNullable<ReturnType<CelEnv['funcs']['find']>>;

/** Functions that traverse a whole list or map; others traverse text at most. */
const DEEP = new Set(['_==_', '_!=_', '@in', 'join', 'format']);
/** Cost of these in themselves: they make formatters of the host. */
const DEAR: Readonly<Record<string, number>> = { format: 300, ...zoned() };
/** Functions whose results may be longer than their arguments. */
const GROWING = new Set(['join', 'replace']);
/** Elements that are copied in the time of a step, as a power of two. */
const RANGE_SHIFT = 4;

/** An environment whose functions charge `meter`. */
export function meteredEnvironment(meter: Meter, matches: Matches): CelEnv {
  const base = celEnv({ funcs: [...strings, ...ownFunctions(matches), ...timestampParts()] });
  const find = (name: string): FuncGroup | undefined => {
    const group = base.funcs.find(name);
    return group && metered(group, meter);
  };
  const funcs = new Proxy(base.funcs, { get: (target, key) => (key === 'find' ? find : Reflect.get(target, key)) });
  return new Proxy(base, { get: (target, key) => (key === 'funcs' ? funcs : Reflect.get(target, key, target)) });
}

function metered(group: FuncGroup, meter: Meter): FuncGroup {
  const { name } = group;
  const each = () => group[Symbol.iterator]();
  if (name === TICK) {
    // Called at every turn of every macro, with a condition that may be of any type.
    return {
      name,
      [Symbol.iterator]: each,
      call(_id, _target, [condition = null]) {
        meter.charge(1);
        return condition;
      },
    };
  }
  const deep = DEEP.has(name);
  const steps = 1 + (DEAR[name] ?? 0);
  const charge = (value: CelValue) => {
    if (deep || typeof value === 'string') meter.chargeValue(value);
    else if (name === RANGE && (isCelList(value) || isCelMap(value))) meter.charge(value.size >> RANGE_SHIFT);
  };
  return {
    name,
    [Symbol.iterator]: each,
    call(id, target, args) {
      meter.charge(steps);
      if (target !== undefined) charge(target);
      for (const value of args) charge(value);
      if (GROWING.has(name)) meter.charge(growth(name, target, args));
      return group.call(id, target, args);
    },
  };
}

/** Returns the steps for results that are longer than the arguments. */
function growth(name: string, target: CelValue | undefined, [first, second]: readonly CelValue[]): number {
  if (name === 'join' && isCelList(target) && typeof first === 'string') return textSteps(target.size * first.length);
  if (name !== 'replace' || typeof target !== 'string') return 0;
  if (typeof first !== 'string' || typeof second !== 'string') return 0;
  return textSteps((target.length / Math.max(first.length, 1)) * second.length);
}

function textSteps(characters: number): number {
  return Math.floor(characters / TEXT_STEP);
}

/** The parts of a timestamp, which may be asked for in a time zone. */
function zoned(): Record<string, number> {
  const parts = ['FullYear', 'Month', 'Date', 'DayOfMonth', 'DayOfWeek', 'DayOfYear', 'Hours', 'Minutes', 'Seconds'];
  return Object.fromEntries([...parts, 'Milliseconds'].map((part) => [`get${part}`, 150]));
}
