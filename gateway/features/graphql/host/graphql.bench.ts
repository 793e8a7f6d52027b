/**
 * Measures checking a request: a document that is known, the same with a cost that depends on variables, one that is
 * read for the first time, and the worst that the limits let in. Best of several rounds.
 *
 *     node gateway/features/graphql/host/graphql.bench.ts
 */
import { join } from 'node:path';
import { readPluginFolder } from '../../../sdk/testing/plugin-folder.ts';
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import type { JsonObject } from '../../../src/artifact/format.ts';
import { SharedMap } from '../../../src/shares/shared-map.ts';
import { GraphQLChecker, type Verdict } from './graphql-checker.ts';
import { Refused } from './refusal.ts';

const fields = (count: number) => Array.from({ length: count }, (_, i) => `field${i} { id name }`).join(' ');
const usual = `query Q($n: Int) { viewer { id } orders(first: $n) { ...order } } fragment order on Order { ${fields(12)} }`;
const large = `{ a { ${fields(900)} } }`;
const doubled = Array.from({ length: 500 }, (_, i) => `fragment f${i} on T { ...f${i + 1} ...f${i + 1} }`).join(' ');

interface Case {
  readonly label: string;
  readonly query: string;
  readonly config?: JsonObject;
  /** Each request has another document. */
  readonly fresh?: true;
  readonly calls: number;
}

const cases: readonly Case[] = [
  { label: 'known, 500 bytes', query: usual, calls: 5_000 },
  { label: 'known, cost by variables', query: usual, config: { cost: { max: 1e9 } }, calls: 5_000 },
  { label: 'new, 500 bytes', query: usual, fresh: true, calls: 1_000 },
  { label: 'new, 5,000 tokens', query: large, fresh: true, calls: 50 },
  {
    label: 'new, 500 fragments that double',
    query: `{ ...f0 } ${doubled} fragment f500 on T { a }`,
    fresh: true,
    calls: 50,
  },
  { label: 'new, brackets without end', query: '{a'.repeat(30_000), fresh: true, calls: 200 },
];

const ROUNDS = 10;
const { complete } = await readPluginFolder(join(import.meta.dirname, '../plugins/graphql'));
for (const { label, query, config = {}, fresh, calls } of cases) {
  const checker = new GraphQLChecker(complete(config), new SharedMap<Verdict>({ most: 16 << 20 }));
  let made = 0;
  const request = () => {
    const text = fresh ? `${query} #${made++}` : query;
    const exchange = recordedExchange({ method: 'POST', headers: { 'content-type': 'application/json' } });
    exchange.body = Buffer.from(JSON.stringify({ query: text, variables: { n: 20 } }));
    return exchange;
  };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const ready = Array.from({ length: calls }, request);
    const started = performance.now();
    for (const exchange of ready) {
      try {
        checker.check(exchange, () => {});
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
    best = Math.min(best, ((performance.now() - started) * 1000) / calls);
  }
  process.stdout.write(`${label}: ${best.toFixed(1)} µs\n`);
}
