/** Documents of strangers: counted as if fragments stood in their places, at the price of the text alone, and no crash. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutated } from '../../../../test/mutations.ts';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { inTime } from '../../../../test/time-limit.ts';
import { type CostSettings, costOf } from './cost.ts';
import { readDocument } from './document.ts';
import { measureFragments, measureSelections } from './measures.ts';
import { type CheckedOperation, checkedOperations } from './operation-check.ts';
import { Refused } from './refusal.ts';

const limits = { maxDocumentBytes: 1 << 20, maxTokens: 50_000 };

type Selection =
  | { readonly field: string; readonly alias: boolean; readonly first: number; readonly inside: readonly Selection[] }
  | { readonly directive: boolean; readonly inline: readonly Selection[] }
  /** A fragment behind the one that it stands in, if there is one. */
  | { readonly spread: number };

const { selections } = fc.letrec<{ selections: readonly Selection[] }>((tie) => ({
  selections: fc.array(
    fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.nat(5).map((spread) => ({ spread })),
      fc.record({
        field: fc.constantFrom('a', 'b', 'users', '__typename', '__schema'),
        alias: fc.boolean(),
        first: fc.nat(3),
        inside: tie('selections'),
      }),
      fc.record({ directive: fc.boolean(), inline: tie('selections') }),
    ),
    { maxLength: 4 },
  ),
}));
const fragments = fc.array(selections, { maxLength: 4 });

/** `at`: the number of the fragment that the selections stand in. */
function write(set: readonly Selection[], at: number, count: number): string {
  const written = set.flatMap((each) => {
    if ('spread' in each) return at + 1 + each.spread < count ? [`...f${at + 1 + each.spread}`] : [];
    if ('inline' in each) return [`... ${each.directive ? '@d ' : ''}${write(each.inline, at, count)}`];
    const { field, alias, first, inside } = each;
    return [
      `${alias ? 'x: ' : ''}${field}${first > 0 ? `(first: ${first})` : ''} ${inside.length > 0 ? write(inside, at, count) : ''}`,
    ];
  });
  return `{ ${written.join(' ')} }`;
}

const settings: CostSettings = {
  most: 1,
  otherwise: { cost: 1, listSize: 1 },
  fields: new Map([['users', { cost: 3, listSize: 2 }]]),
  listArguments: new Set(['first']),
};

/** The plain way: fragments are put in their places. */
class Naive {
  depth = 0;
  fields = 0;
  widest = 0;
  aliases = 0;
  directives = 0;
  introspects = false;
  readonly #fragments: readonly (readonly Selection[])[];

  constructor(fragments: readonly (readonly Selection[])[]) {
    this.#fragments = fragments;
  }

  /** Its breadth and its cost. */
  count(set: readonly Selection[], at: number, depth: number): { breadth: number; cost: number } {
    const sum = { breadth: 0, cost: 0 };
    const add = ({ breadth, cost }: { breadth: number; cost: number }) => {
      sum.breadth += breadth;
      sum.cost += cost;
    };
    for (const each of set) {
      if ('spread' in each) {
        const to = at + 1 + each.spread;
        const spread = this.#fragments[to];
        if (spread !== undefined) add(this.count(spread, to, depth));
      } else if ('inline' in each) {
        if (each.directive) this.directives++;
        add(this.count(each.inline, at, depth));
      } else add({ breadth: 1, cost: this.#field(each, at, depth) });
    }
    this.widest = Math.max(this.widest, sum.breadth);
    return sum;
  }

  #field({ field, alias, first, inside }: Extract<Selection, { field: string }>, at: number, depth: number): number {
    this.fields++;
    this.depth = Math.max(this.depth, depth + 1);
    if (alias) this.aliases++;
    if (field === '__schema') this.introspects = true;
    const [own, size] = field === 'users' ? [3, 2] : [1, 1];
    return own + (first || size) * this.count(inside, at, depth + 1).cost;
  }
}

describe('what is counted of a document', () => {
  it('is what it has with its fragments in place', () => {
    fc.assert(
      fc.property(selections, fragments, (root, spread) => {
        const named = spread.map((set, i) => `fragment f${i} on T ${write(set, i, spread.length)}`).reverse();
        const document = readDocument([write(root, -1, spread.length), ...named].join('\n'), limits);
        const [operation] = document.operations;
        if (operation === undefined) throw new Error('there is no operation');
        const naive = new Naive(spread);
        const { breadth, cost } = naive.count(root, -1, 0);
        const { depth, fields, widest, aliases, directives, introspects } = naive;
        const counted = measureSelections(operation.selectionSet, measureFragments(document.fragments));
        expect(counted).toEqual({ breadth, depth, fields, widest, aliases, directives, introspects });
        expect(costOf(operation, document, settings, null)).toEqual({ value: cost, varies: false });
      }),
      propertyRuns(500),
    );
  });

  const rules = {
    limits: {
      max_depth: 200,
      max_fields: 1e6,
      max_breadth: 1e6,
      max_root_fields: 1e6,
      max_aliases: 1e6,
      max_directives: 1e6,
    },
    operations: new Set(['query', 'mutation', 'subscription']),
    introspection: true,
    cost: settings,
  };
  const checked = (text: string): readonly CheckedOperation[] | string => {
    try {
      return inTime(() => checkedOperations(readDocument(text, limits), rules));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return error.refusal.code;
    }
  };
  const many = (count: number, each: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => each(i)).join(' ');

  it('costs no more than its text, and no stack', () => {
    const code = (text: string) => {
      const found = checked(text);
      return typeof found === 'string' ? found : (found[0]?.refusal?.code ?? null);
    };
    const doubled = many(2_000, (i) => `fragment f${i} on T { ...f${i + 1} ...f${i + 1} }`);
    expect(code(`{ ...f0 } ${doubled} fragment f2000 on T { a }`)).toBe('MAX_FIELDS_LIMIT');
    const chain = many(5_000, (i) => `fragment f${i} on T { ...f${i + 1} }`);
    expect(code(`{ ...f0 } ${chain} fragment f5000 on T { a }`)).toBe(null);
    expect(code(`{ ...f0 } ${chain} fragment f5000 on T { ...f0 }`)).toBe('GRAPHQL_VALIDATION_FAILED');
    const spreads = many(300, (i) => `fragment f${i} on T { a ${many(i, (of) => `...f${of}`)} }`);
    expect(code(`{ ...f299 } ${spreads}`)).toBe('GRAPHQL_PARSE_FAILED');
    expect(code(`{ ...f99 } ${many(100, (i) => `fragment f${i} on T { a ${many(i, (of) => `...f${of}`)} }`)}`)).toBe(
      'MAX_FIELDS_LIMIT',
    );
    const star = many(9_000, (i) => `...f${i % 900}`);
    expect(code(`{ ${star} } ${many(900, (i) => `fragment f${i} on T { ...g }`)} fragment g on T { a }`)).toBe(null);
    expect(code('{a'.repeat(100_000))).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(code(many(10_000, (i) => `query q${i} { a }`))).toBe(null);
    expect(code(`{ a(${many(16_000, (i) => `v${i}: 1`)}) }`)).toBe(null);
    expect(code(`#${'\n#'.repeat(500_000)}`)).toBe('GRAPHQL_PARSE_FAILED');
    expect(code(`{ a(b: """${'\n  x'.repeat(200_000)}""") }`)).toBe(null);
  });

  it('is counted, or a refusal, whatever bytes came', () => {
    const seeds = [
      'query q($n: Int = 3 @d, $s: [T!]!) @e { x: users(first: $n, by: {a: [1, "s", ENUM]}) { ...f ... on U @i(if: $s) { b } } }',
      'fragment f on T { __typename ...g } fragment g on U { """text""" b } mutation { f(s: "\\u{1F600}\\n") } # end',
    ];
    const tokens = [
      '{',
      '}',
      '(',
      '[',
      '...',
      ' on ',
      '"',
      '"""',
      '$',
      '@',
      ':',
      'fragment f on T',
      '\\u',
      '#',
      '\n',
      '&',
    ];
    fc.assert(
      fc.property(
        mutated(
          seeds.map((each) => Buffer.from(each)),
          tokens,
        ),
        (bytes) => {
          const found = checked(bytes.toString());
          if (typeof found === 'string') expect(found).toMatch(/^GRAPHQL_(PARSE|VALIDATION)_FAILED$/);
          else for (const { cost } of found) if (typeof cost === 'function') expect(cost({ n: 1e308 })).not.toBeNaN();
        },
      ),
      propertyRuns(3000),
    );
  });
});
