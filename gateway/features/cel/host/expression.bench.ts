/**
 * Measures evaluating a condition: a plain one, one that goes through a body, and the worst that MOST_STEPS allows,
 * during which nothing else runs. Best of several rounds.
 *
 *     node gateway/features/cel/host/expression.bench.ts
 */
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import { compileCondition } from './expression.ts';
import { requestValue } from './request-view.ts';

const body = JSON.stringify({
  numbers: Array.from({ length: 20_000 }, (_, i) => i),
  objects: Array.from({ length: 10_000 }, (_, i) => ({ a: i, b: 'x' })),
  text: 'ab'.repeat(30_000),
});
const plain = 'request.method == "GET" && request.headers["x-a"] == "b" && "admin" in request.groups';
const cases: readonly (readonly [string, string, string, number])[] = [
  ['three comparisons', plain, '', 2_000],
  ['a member of a body of 100 bytes', 'request.body_json.model == "large"', '{"model":"small","n":1}', 2_000],
  [
    'one turn for each of 100 objects',
    'request.body_json.l.all(o, o.a == "x")',
    JSON.stringify({ l: Array(100).fill({ a: 'x' }) }),
    100,
  ],
  ['worst: all', 'request.body_json.numbers.all(x, x >= 0.0)', body, 2],
  ['worst: all in all', 'request.body_json.numbers.all(x, request.body_json.numbers.exists(y, y == x))', body, 2],
  ['worst: map', 'request.body_json.objects.map(o, {"a": o.a, "b": [o.b]}) == []', body, 2],
  ['worst: equality', 'request.body_json == request.body_json', body, 2],
  ['worst: text', 'request.body_json.objects.all(o, string(o.a).size() > 0 && o.b + "y" != "z")', body, 2],
  ['worst: time zones', 'request.body_json.objects.all(o, request.time.getHours("Europe/Berlin") < 24)', body, 2],
  ['worst: format', 'request.body_json.objects.all(o, "%.2f".format([o.a]) != "")', body, 2],
  ['worst: pattern', 'request.body_json.text.matches("(a[ab]{10}c|b[ab]{10}d)")', body, 2],
];

const ROUNDS = 20;
const headers = { 'x-a': 'b', 'x-auth-consumer-groups': 'a,admin' };
for (const [name, text, json, runs] of cases) {
  const condition = compileCondition(text);
  const requests = () => {
    const exchange = recordedExchange({ headers });
    exchange.body = json === '' ? null : Buffer.from(json);
    return requestValue(exchange).value;
  };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const ready = Array.from({ length: runs }, requests);
    // Reading the JSON is excluded from the worst cases, which measure the expression.
    if (name.startsWith('worst')) for (const request of ready) request.get('body_json');
    const started = performance.now();
    for (const request of ready) condition.evaluate(request);
    best = Math.min(best, ((performance.now() - started) * 1000) / runs);
  }
  process.stdout.write(`${name}: ${best.toFixed(1)} µs\n`);
}
