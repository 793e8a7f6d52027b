/** The generator of one value: its strategy, and its limits. */
import type { Json } from '../spec/json.ts';
import { Random } from './random.ts';

/** No value can be made: of one member that is optional, the member is left out. */
export class Unmakeable extends Error {}

/** Which of the examples in a schema are taken: all, only those of values without members, none. */
type ExampleUse = 'all' | 'scalars' | 'none';

export interface Strategy {
  readonly examples: ExampleUse;
  /** Members that are not required are made down to this depth. */
  readonly optionalDepth: number;
  /** The first of several branches is taken, or any. */
  readonly branches: 'first' | 'any';
  /** How `if` is treated: often a value does not meet an unchecked condition. */
  readonly conditions: 'ignored' | 'met' | 'not met';
  /** Source of a text that has both a format and a pattern. */
  readonly text: 'format' | 'pattern';
}

/** Schemas that are visited for one value; the largest responses of GitHub and Stripe take 2,700 and 7,000. */
const MOST_STEPS = 20_000;
/** Values of a list that are looked at in the time of a schema. */
const VALUES_A_STEP = 20;
/** Characters of all texts that are made for it, and of the patterns that are read for them. */
const MOST_TEXT = 1 << 18;
/** Values in values. */
const MOST_DEPTH = 64;

/** Number of values to choose from for a single one. */
export const USUAL_REACH = 100;

type NameTest = (pattern: string, name: string) => boolean;

/** Source of generated values. */
export interface Source {
  /** The artifact's table. */
  readonly schemas: { readonly [id: string]: Json };
  /** Reports whether a name matches a pattern. */
  readonly test: NameTest;
}

export class ValueGenerator {
  readonly strategy: Strategy;
  readonly random: Random;
  /** Number of different values to choose from if a schema leaves them open: a list of distinct values needs more. */
  reach = USUAL_REACH;
  readonly #schemas: { readonly [id: string]: Json };
  readonly #test: NameTest;
  #steps = 0;
  #text = 0;

  constructor({ schemas, test }: Source, strategy: Strategy, seed: string) {
    this.#schemas = schemas;
    this.#test = test;
    this.strategy = strategy;
    this.random = new Random(seed);
  }

  /** Throws Unmakeable past a limit. */
  step(depth: number): void {
    if (++this.#steps > MOST_STEPS || depth > MOST_DEPTH) throw new Unmakeable('it is too large or too deep');
  }

  /** Throws Unmakeable if `count` more values are past the limit: before any of them is made. */
  expect(count: number): void {
    if (this.#steps + count > MOST_STEPS) throw new Unmakeable('it is too large');
  }

  /** Counts work by the length of a list, such as that of an enumeration. Throws Unmakeable past the limit. */
  charge(length: number): void {
    this.#steps += length / VALUES_A_STEP;
    if (this.#steps > MOST_STEPS) throw new Unmakeable('it is too large');
  }

  /** Schemas visited so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Throws Unmakeable past the limit. */
  takeText(length: number): void {
    this.#text += length;
    if (this.#text > MOST_TEXT) throw new Unmakeable('its texts are too long');
  }

  /** `gw:<id>`. */
  resolve(ref: string): Json {
    return this.#schemas[ref.slice('gw:'.length)] ?? true;
  }

  /** Reports whether a name matches a pattern. Throws Unmakeable. */
  matches(pattern: string, name: string): boolean {
    this.step(0);
    return this.#test(pattern, name);
  }
}
