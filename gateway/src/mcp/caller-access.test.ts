import { expect, it } from 'vitest';
import type { ArtifactPlugin, Operation } from '../artifact/format.ts';
import { Exchange, type Responder } from '../exchange.ts';
import { Admission } from '../headers/admission.ts';
import { ANSWERED, type BoundPlugin, CONTINUE, type Outcome } from '../wasm/call/plugin.ts';
import { AccessChecks, type GuardedOperation } from './caller-access.ts';

const NO_RESPONDER = { headSent: false, abort() {} } as unknown as Responder;

function outer(): Exchange {
  const request = { method: 'POST', target: '/__gw/mcp', scheme: 'http', headers: ['x-api-key', 'k'], body: null };
  return new Exchange(NO_RESPONDER, { ...request, clientIp: '192.0.2.1' });
}

/** What a middleware of the tests does, and how often it was asked. */
function plugin(authenticates: boolean, onRequest: (exchange: Exchange) => Outcome | Promise<Outcome>) {
  const asked: Exchange[] = [];
  const ask = (exchange: Exchange) => {
    asked.push(exchange);
    return onRequest(exchange);
  };
  const manifest = { authenticates } as ArtifactPlugin;
  const bound = { plugin: manifest, hasRequestHook: true, onRequest: ask } as unknown as BoundPlugin;
  return { bound, asked };
}

const answers =
  (status: number, decision: 'answered' | 'failed' = 'answered') =>
  (exchange: Exchange) => {
    exchange.answer = { status, body: null };
    exchange.decided('test', decision);
    return ANSWERED as Outcome;
  };
const passes = () => CONTINUE as Outcome;
const ADMISSION = new Admission(['x-api-key']);

/** Operations with these middlewares, the last of which decides. */
function checksOf(chains: readonly (readonly { readonly bound: BoundPlugin }[])[], patienceMs?: number) {
  const operations = chains.map((chain, index): [number, GuardedOperation] => {
    const operation = { index, method: 'GET', path: `/${index}` } as Operation;
    const middlewares = chain.map(({ bound }) => ({ plugin: bound }));
    return [index, { operation, admission: ADMISSION, middlewares }];
  });
  const rules = chains.map((chain, operation) => ({ operation, middlewares: [chain.length - 1] }));
  return new AccessChecks(rules, new Map(operations), patienceMs);
}

const admit = (exchange: Exchange, admission: Admission) => {
  exchange.headers = admission.admit(exchange.rawHeaders).headers;
};

it.each([
  ['refuses', answers(403), false],
  ['refuses with a status of its own', answers(404), false],
  ['asks who calls', answers(401), true],
  ['fails', answers(500, 'failed'), true],
  ['lets pass', passes, true],
])('a tool whose middleware %s is told of accordingly', async (_, decides, told) => {
  const permits = await checksOf([[plugin(true, passes), plugin(false, decides)]]).permittedTo(outer(), admit);
  expect([permits(0), permits(1)]).toEqual([told, true]);
});

it('asks each distinct chain once, whatever the number of its operations, and others in between never', async () => {
  const [auth, limit, acl, other] = [
    plugin(true, passes),
    plugin(false, passes),
    plugin(false, passes),
    plugin(false, passes),
  ];
  await checksOf([
    [auth, limit, acl],
    [auth, acl],
    [limit, auth, other],
  ]).permittedTo(outer(), admit);
  expect([auth, limit, acl, other].map(({ asked }) => asked.length)).toEqual([1, 0, 1, 1]);
  expect(auth.asked[0]).toMatchObject({ method: 'GET', bodyStream: null, closed: true });
});

it('waits no longer for who finds out than it may, and tells of what it does not know', async () => {
  const silent = plugin(true, (exchange) => new Promise((resolve) => exchange.onClose(() => resolve(ANSWERED))));
  const [refuses, after] = [plugin(false, answers(403)), plugin(true, passes)];
  const permits = await checksOf(
    [
      [silent, refuses],
      [after, refuses],
    ],
    0,
  ).permittedTo(outer(), admit);
  expect([permits(0), permits(1)]).toEqual([true, true]);
  expect([silent.asked.length, refuses.asked.length, after.asked.length]).toEqual([1, 0, 0]);
});

it('ends when the client leaves', async () => {
  const client = outer();
  const silent = plugin(true, (exchange) => new Promise((resolve) => exchange.onClose(() => resolve(ANSWERED))));
  const permits = checksOf([[silent, plugin(false, answers(403))]]).permittedTo(client, admit);
  client.close();
  expect((await permits)(0)).toBe(true);
});
