/** Documents are read once, and what is known of them is bounded. */
import { describe, expect, it } from 'vitest';
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import type { JsonObject } from '../../../src/artifact/format.ts';
import { SharedMap } from '../../../src/shares/shared-map.ts';
import { GraphQLChecker, type Verdict, type Verdicts } from './graphql-checker.ts';
import { Refused } from './refusal.ts';

const config: JsonObject = {
  operations: ['query'],
  introspection: false,
  max_depth: 5,
  max_fields: 1000,
  max_breadth: 1000,
  max_root_fields: 1000,
  max_aliases: 10,
  max_directives: 10,
  max_tokens: 5000,
  max_document_bytes: 65_536,
  max_body_bytes: 262_144,
  max_batch: 0,
};

/** Characters of documents that were read, and the code of the refusal. */
function check(checker: GraphQLChecker, query: string): readonly [read: number, code: string | null] {
  const headers = { 'content-type': 'application/json' };
  const exchange = recordedExchange({ method: 'POST', headers, body: JSON.stringify({ query }) });
  exchange.body = Buffer.from(JSON.stringify({ query }));
  let read = 0;
  try {
    checker.check(exchange, (characters) => {
      read += characters;
    });
    return [read, null];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [read, error.refusal.code];
  }
}

describe('documents', () => {
  const verdicts = (bytes: number): Verdicts => new SharedMap<Verdict>({ most: bytes });

  it('are read once, those that are refused too', () => {
    const checker = new GraphQLChecker(config, verdicts(1 << 20));
    expect(check(checker, '{ a }')).toEqual([5, null]);
    expect(check(checker, '{ a }')).toEqual([0, null]);
    expect(check(checker, '{ a')).toEqual([3, 'GRAPHQL_PARSE_FAILED']);
    expect(check(checker, '{ a')).toEqual([0, 'GRAPHQL_PARSE_FAILED']);
    expect(check(checker, 'mutation { a }')[1]).toBe('OPERATION_NOT_ALLOWED');
    expect(check(checker, 'mutation { a }')).toEqual([0, 'OPERATION_NOT_ALLOWED']);
  });

  it('are judged by each config by itself', () => {
    const shared = verdicts(1 << 20);
    const [one, other] = [new GraphQLChecker(config, shared), new GraphQLChecker({ ...config, max_depth: 1 }, shared)];
    expect(check(one, '{ a { b } }')[1]).toBe(null);
    expect(check(other, '{ a { b } }')[1]).toBe('MAX_DEPTH_LIMIT');
    expect(check(one, '{ a { b } }')[1]).toBe(null);
  });

  it('of strangers take no more than their share of memory, and leave those that are in use', () => {
    const cost = { max: 1000, default_cost: 1, default_list_size: 1, list_arguments: ['first'], fields: {} };
    const known = verdicts(100_000);
    const checker = new GraphQLChecker({ ...config, cost }, known);
    check(checker, '{ mine }');
    for (let i = 0; i < 2000; i++) {
      check(checker, `query ($n: Int) { a(first: $n) { f${i} } }`);
      check(checker, `{ f${i} `);
      if (i % 10 === 0) expect(check(checker, '{ mine }')).toEqual([0, null]);
      expect(known.weight).toBeLessThanOrEqual(100_000);
    }
    expect(check(checker, '{ f0 ')[0]).toBe(5);
  });

  it('that the config lists stay', () => {
    const persisted_documents = { documents: { mine: '{ mine }' } };
    const checker = new GraphQLChecker({ ...config, persisted_documents }, verdicts(10_000));
    for (let i = 0; i < 200; i++) check(checker, `{ f${i} }`);
    expect(check(checker, '{ mine }')).toEqual([0, null]);
  });
});
