/** Plugins that attack the gateway, or only err: each costs its own request, and nothing else. */

import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { standaloneCapabilities } from '../../features/standalone.ts';
import type { KitOptions } from '../../sdk/testing/kit.ts';
import { readPluginFolder } from '../../sdk/testing/plugin-folder.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import { openKit, type RuntimeKit } from '../../sdk/testing/runtime-kit.ts';
import { Interrupted } from '../exchange.ts';
import { builtinPluginFolder } from '../plugins/builtin.ts';
import { problem } from '../problems.ts';
import { MemoryState } from '../state/memory-state.ts';
import type { RateLimitStore } from '../state/rate-limit-store.ts';
import type { State } from '../state/state.ts';
import { plugin as growing } from './binary/module-of.ts';
import { SHAPES } from './binary/module-shapes.ts';
import { createPluginRuntime, PluginLoadError, type PluginServices } from './index.ts';

const fixtures = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'plugins');
const kits: RuntimeKit[] = [];

async function fixture(name: string, options?: KitOptions): Promise<RuntimeKit> {
  const kit = await openKit(join(fixtures, name), options);
  kits.push(kit);
  return kit;
}

afterEach(() => {
  for (const kit of kits.splice(0)) kit.close();
});

const services: PluginServices = {
  ...(await standaloneCapabilities()),
  openUpstream: (url) => ({ name: url }),
  log: () => {},
  observe: () => () => {},
};

const FAILED = { type: 'urn:gw:error:plugin-failed', title: 'Plugin failed', status: 500 };

const stateOf = (rateLimits: RateLimitStore): State => ({ ...new MemoryState(), rateLimits, close: async () => {} });

describe('a plugin that goes wrong', () => {
  it.each([
    ['loop', /CPU time/],
    ['recursion', /recurse|CPU time/],
    ['host', /CPU time/],
    ['log', /CPU time/],
    ['copy', /CPU time/],
    ['headers', /too many request headers/],
  ])('is stopped in %s', async (mode, reason) => {
    const kit = await fixture('looper');
    const { outcome, problem, logs } = await kit.onRequest({ config: { mode } });
    expect(outcome).toBe('answered');
    expect(problem).toEqual(FAILED);
    const errors = logs.filter(({ level }) => level === 'error');
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(reason)]);
  });

  it('writes log lines of bounded length and number', async () => {
    const kit = await fixture('looper');
    const { logs } = await kit.onRequest({ config: { mode: 'log' } });
    const lines = logs.filter(({ level }) => level === 'info');
    expect(lines.length).toBeLessThanOrEqual(100);
    expect(Math.max(...lines.map(({ message }) => message.length))).toBeLessThan(4_200);
  });

  it('gets no more memory than its limit', async () => {
    const kit = await fixture('allocator', { limits: { memoryBytes: 4 << 20, cpuMs: 1_000 } });
    const { problem, logs } = await kit.onRequest({});
    expect(problem).toEqual(FAILED);
    expect(logs).toEqual([{ level: 'error', message: expect.stringMatching(/on_request failed: trapped/) }]);
  });

  it.each(['on_request', 'memory', 'outcome', 'unanswered'])('fails alone when it errs by %s', async (hook) => {
    const kit = await fixture('trapper');
    const { problem, logs } = await kit.onRequest({ config: { hook } });
    expect(problem).toEqual(FAILED);
    expect(logs.length).toBe(1);
    expect((await kit.onRequest({ config: { hook: 'on_response' } })).outcome).toBe('continue');
  });

  it('fails alone in a response hook', async () => {
    const kit = await fixture('trapper');
    const result = await kit.onResponse({ config: { hook: 'on_response' }, response: { status: 200 } });
    expect(result.problem).toEqual(FAILED);
  });

  it('cannot have its config when init refuses, traps or runs without end', async () => {
    const trapper = await fixture('trapper');
    await expect(trapper.bind({ hook: 'refuse' })).rejects.toThrow('rejects its config: it is not to my taste');
    await expect(trapper.bind({ hook: 'init' })).rejects.toThrow(PluginLoadError);
    const looper = await fixture('looper');
    await expect(looper.bind({ mode: 'init' })).rejects.toThrow(/CPU time/);
  });

  it.each([
    ['pointer', /pointer outside memory/],
    ['negative', /pointer outside memory/],
    ['length', /pointer outside memory/],
    ['auth-header', /authenticates = true/],
    ['framing-header', /transfer-encoding is the gateway's/],
    ['header-name', /"a b" is not a header name/],
    ['header-value', /forbidden character/],
    ['response', /no response in on_request/],
    ['status', /99 is not the status/],
    ['members', /not a JSON object/],
    ['quota', /quota and window/],
    ['random', /random_get: more than 1024 bytes/],
    ['random-pointer', /pointer outside memory/],
    ['query', /a query of more than 65536 bytes/],
    ['continue-after-answer', /returned 0 but has answered/],
  ])('is stopped when it misuses the host: %s', async (act, reason) => {
    const kit = await fixture('misuser');
    const { problem, staged, requestHeaders, logs } = await kit.onRequest({ config: { act } });
    expect(problem).toEqual(FAILED);
    expect(logs.map(({ message }) => message)).toEqual([expect.stringMatching(reason)]);
    expect({ ...staged, ...requestHeaders }).toEqual({});
  });

  it('sets no more response headers than 64 KiB in all', async () => {
    const kit = await fixture('misuser');
    const { problem, logs } = await kit.onRequest({ config: { act: 'many-headers' } });
    expect(problem).toEqual(FAILED);
    expect(logs.map(({ message }) => message)).toEqual([
      expect.stringContaining('more than 65536 bytes of response headers'),
    ]);
  });

  it('that authenticates writes x-auth headers: encoded, and claims up to 8 KiB', async () => {
    const { plugin, wasm } = await readPluginFolder(join(fixtures, 'misuser'));
    const lines: string[] = [];
    const runtime = createPluginRuntime({ ...services, log: (_level, _plugin, message) => lines.push(message) });
    const bound = await (await runtime.load({ ...plugin, authenticates: true }, wasm)).bind({ act: 'claims' });
    const exchange = recordedExchange({});
    expect(await bound.onRequest(exchange)).toBe(0);
    expect(exchange.headers).toEqual(['x-auth-consumer', 'zo%C3%AB%0D%0A']);
    expect(lines).toEqual(['x-auth-claims left out: 9000 bytes, of at most 8192']);
    runtime.close();
  });

  it('cannot limit a body when the response is there', async () => {
    const kit = await fixture('misuser');
    const { problem, logs } = await kit.onResponse({ config: { act: 'body-limit' }, response: { status: 200 } });
    expect(problem).toEqual(FAILED);
    expect(logs.map(({ message }) => message)).toEqual([expect.stringMatching('request_body_limit is for on_request')]);
  });

  it('cannot read a request in init, nor have random bytes there that every call would share', async () => {
    const kit = await fixture('misuser');
    await expect(kit.bind({ act: 'random-in-init' })).rejects.toThrow('the same bytes');
    await expect(kit.bind({ act: 'request-in-init' })).rejects.toThrow('there is no request in init');
  });

  it('cannot break a log line', async () => {
    const kit = await fixture('misuser');
    const { logs } = await kit.onRequest({ config: { act: 'log-lines' } });
    expect(logs).toEqual([{ level: 'warn', message: 'one two  [31m three' }]);
  });
});

describe('hooks of one request', () => {
  it('share state, and replace a response with the headers set there', async () => {
    const kit = await fixture('misuser');
    const bound = await kit.bind({ act: 'state' });
    const exchange = recordedExchange({});
    await bound.onRequest(exchange);
    exchange.response.status = 200;
    await bound.onResponse(exchange);
    expect(exchange.response.headers).toEqual(['x-kept', 'from the request']);

    const { answer } = await kit.onResponse({
      config: { act: 'replace' },
      response: { status: 200, headers: { 'content-type': 'text/html', 'set-cookie': 'a=b' } },
    });
    expect(answer).toEqual({ status: 418, headers: { 'x-new': '1' }, body: 'replaced' });
  });

  it('see a body chunk by chunk in both directions, and may add to its end', async () => {
    const kit = await fixture('stream-upper');
    expect(await kit.stream('request', ['ab', '12', 'Cd'])).toBe('AB12CD');
    expect(await kit.stream('response', ['x', ''], { config: { trailer: '!' } })).toBe('X!');
  });
});

describe('an answer that is given twice', () => {
  const last = { status: 202, headers: { 'x-first': '1', 'x-second': '2' }, body: 'second' };

  it('is the last one, with the headers set before either: on a request', async () => {
    const kit = await fixture('misuser');
    const { outcome, answer } = await kit.onRequest({ config: { act: 'answer-twice' } });
    expect([outcome, answer]).toEqual(['answered', last]);
  });

  it('and on a response', async () => {
    const kit = await fixture('misuser');
    const { outcome, answer } = await kit.onResponse({ config: { act: 'answer-twice' }, response: { status: 200 } });
    expect([outcome, answer]).toEqual(['answered', last]);
  });
});

describe('reading', () => {
  it('gives less at the end of a body and nothing past it, and what no list holds is absent', async () => {
    const kit = await fixture('reader');
    const { answer } = await kit.onRequest({ method: 'POST', body: 'abcdef' });
    expect(answer?.body).toBe('6 4 2 0 0 0 -1 -1 -1 -1 ');
  });

  it('does the same where there is no body', async () => {
    const kit = await fixture('reader');
    expect((await kit.onRequest({})).answer?.body).toBe('0 0 0 0 0 0 -1 -1 -1 -1 ');
  });

  it('does the same of a chunk', async () => {
    const kit = await fixture('reader');
    expect(await kit.stream('response', ['abc'])).toBe('3 2 1 0 0 ');
  });

  it('fails into a buffer that is not all inside memory, also where nothing is left to write', async () => {
    const kit = await fixture('reader');
    const { problem, logs } = await kit.onRequest({ config: { outside: true }, method: 'POST', body: 'abcdef' });
    expect(problem).toEqual(FAILED);
    expect(logs.map(({ message }) => message)).toEqual([expect.stringContaining('a pointer outside memory')]);
  });
});

describe('a body in memory', () => {
  it('is read and replaced in both directions, also where it outgrows the memory', async () => {
    const kit = await fixture('body-reverser');
    for (const body of ['abc', 'x'.repeat(70_000) + 'y'.repeat(200_000)]) {
      const { requestBody } = await kit.onRequest({ method: 'POST', body });
      expect(requestBody).toBe([...body].reverse().join(''));
      const { response } = await kit.onResponse({ response: { status: 200, body } });
      expect(response.body).toBe([...body].reverse().join(''));
    }
    expect((await kit.onRequest({})).requestBody).toBeNull();
  });

  it('that is refused while the plugin waits for it ends the call with that answer', async () => {
    const kit = await fixture('body-reverser');
    const bound = await kit.bind({});
    const exchange = recordedExchange({ method: 'POST', body: '{' });
    const refusal = { problem: problem('validation-failed') };
    exchange.readBody = async () => {
      await immediate();
      exchange.answer = refusal;
      throw new Interrupted('invalid body');
    };
    expect(await bound.onRequest(exchange)).toBe(1);
    expect(exchange.answer).toBe(refusal);
    expect(await bound.onRequest(recordedExchange({}))).toBe(0);
  });

  it('does not fit into too small a memory', async () => {
    const kit = await fixture('body-reverser', { limits: { memoryBytes: 1 << 20 } });
    const { problem: document, logs } = await kit.onRequest({ method: 'POST', body: 'x'.repeat(2 << 20) });
    expect(document).toEqual(FAILED);
    expect(logs.length).toBe(1);
  });
});

describe('one request and the next', () => {
  it('see nothing of each other: memory and globals are put back', async () => {
    const kit = await fixture('secret-keeper', { limits: { instances: 1 } });
    const bound = await kit.bind({});
    const secret = `${'s'.repeat(200)}MARKER42`;
    for (let i = 0; i < 20; i++) {
      const plant = i % 2 === 0;
      const exchange = recordedExchange({ headers: plant ? { 'x-secret': secret } : {} });
      expect(await bound.onRequest(exchange)).toBe(0);
      expect([...(exchange.context ?? [])]).toEqual(plant ? [['planted', 'yes']] : []);
    }
  });

  it('of other configs neither', async () => {
    const kit = await openKit(builtinPluginFolder('mock'), { limits: { instances: 1 } });
    kits.push(kit);
    const [a, b] = [await kit.bind({ body: 'of a', headers: { 'x-a': '1' } }), await kit.bind({ body: '' })];
    for (let i = 0; i < 3; i++) {
      const [exchange, y] = [recordedExchange({}), recordedExchange({})];
      await a.dispatch(exchange);
      await b.dispatch(y);
      expect(exchange.answer).toMatchObject({ body: Buffer.from('of a') });
      expect(y.answer).toMatchObject({ body: null });
      expect(y.response.staged?.length).toBe(1);
    }
  });
});

describe('what an earlier call has left', () => {
  it('is there for the next one where a test asks for it', async () => {
    const kit = await fixture('secret-keeper');
    const planted = { hook: 'onRequest', request: { headers: { 'x-secret': 'sMARKER42' } } } as const;
    const results = [...(await kit.twiceInSameMemory(planted)), await kit.call(planted)];
    const found = { planted: 'yes', found: 'yes' };
    expect(results.map(({ context }) => context)).toEqual([{ planted: 'yes' }, found, { planted: 'yes' }]);
  });

  it('may be more memory', async () => {
    const kit = await fixture('body-reverser');
    const request = { method: 'POST', body: 'x'.repeat(70_000) + 'y'.repeat(200_000) };
    const results = await kit.twiceInSameMemory({ hook: 'onRequest', request });
    expect(results.map(({ requestBody }) => requestBody)).toEqual(Array(2).fill([...request.body].reverse().join('')));
  });
});

describe('CPU time', () => {
  it('is shared: ten endless calls leave the event loop and other plugins alone', async () => {
    const looper = await fixture('looper');
    const empty = await fixture('empty');
    const [bad, good] = [await looper.bind({ mode: 'loop' }), await empty.bind({})];
    await bad.onRequest(recordedExchange({})); // learns how fast this machine is

    let running = true;
    const endless = Promise.all(Array.from({ length: 10 }, () => bad.onRequest(recordedExchange({})))).then((all) => {
      running = false;
      return all;
    });
    const gaps: number[] = [];
    let last = performance.now();
    while (running) {
      expect(await good.onRequest(recordedExchange({}))).toBe(0);
      await immediate();
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
    expect(await endless).toEqual(Array(10).fill(1));
    gaps.sort((a, b) => a - b);
    const at = (q: number) => gaps[Math.floor(gaps.length * q)] ?? 0;
    process.stdout.write(
      `gaps of the event loop under ten endless calls: p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, largest ${at(0.9999).toFixed(1)} ms of ${gaps.length}\n`,
    );
    // Ten calls of 25 ms in slices: were they not sliced, there would be one or two turns.
    expect(gaps.length).toBeGreaterThan(30);
    expect(at(0.5)).toBeLessThan(20);
  });

  it('is in slices also where memory grows', async () => {
    const runtime = createPluginRuntime(services);
    const shape = SHAPES.find(({ name }) => name === 'memory that has grown, and a loop');
    const bad = await (await runtime.load(growing(), shape?.wasm() ?? new Uint8Array())).bind({});
    // Past the point from which quick modules are called directly: none of these is quick.
    for (let i = 0; i < 3; i++) await bad.onRequest(recordedExchange({}));
    let turns = 0;
    let running = true;
    const endless = Promise.all(Array.from({ length: 8 }, () => bad.onRequest(recordedExchange({})))).then((all) => {
      running = false;
      return all;
    });
    while (running) {
      await immediate();
      turns++;
    }
    expect(await endless).toEqual(Array(8).fill(1));
    // Eight calls of 25 ms: in one piece each there would be eight turns or less.
    expect(turns).toBeGreaterThan(50);
    runtime.close();
  });

  it('spent waiting does not count', async () => {
    const slow = {
      take: async () => {
        await new Promise((resolve) => setTimeout(resolve, 60));
        return { allowed: true, remaining: 1, resetAt: 1, retryAfter: 0 };
      },
    };
    const kit = await openKit(builtinPluginFolder('rate-limit'), { state: stateOf(slow), limits: { cpuMs: 20 } });
    kits.push(kit);
    expect((await kit.onRequest({ config: { quota: 1, window: 1 } })).outcome).toBe('continue');
  });

  it('ends with the client', async () => {
    const kit = await fixture('looper', { limits: { cpuMs: 60_000 } });
    const bound = await kit.bind({ mode: 'loop' });
    const exchange = recordedExchange({});
    const call = bound.onRequest(exchange);
    await immediate();
    exchange.close();
    expect(await call).toBe(1);
    expect(exchange.answer).toEqual({ status: 499, body: null });
  });
});

describe('waiting for the host', () => {
  it('ends with the client', async () => {
    const never = { take: () => new Promise<never>(() => {}) };
    const kit = await openKit(builtinPluginFolder('rate-limit'), { state: stateOf(never) });
    kits.push(kit);
    const bound = await kit.bind({ quota: 1, window: 1 });
    const exchange = recordedExchange({});
    const call = bound.onRequest(exchange);
    await immediate();
    exchange.close();
    expect(await call).toBe(1);
  });

  it('that fails is an internal error, and says so in the log', async () => {
    const broken = { take: () => Promise.reject(new Error('counters are away')) };
    const kit = await openKit(builtinPluginFolder('rate-limit'), { state: stateOf(broken) });
    kits.push(kit);
    const { problem, logs } = await kit.onRequest({ config: { quota: 1, window: 1 } });
    expect(problem).toMatchObject({ type: 'urn:gw:error:internal-error', status: 500 });
    expect(logs).toEqual([{ level: 'error', message: 'on_request failed: counters are away' }]);
  });
});

it('a plugin takes from rate-limit buckets of its own name alone', async () => {
  const taken: string[] = [];
  const rateLimits = {
    take: (bucket: string) => {
      taken.push(bucket);
      return { allowed: true, remaining: 1, resetAt: 1, retryAfter: 0 };
    },
  };
  const kit = await openKit(builtinPluginFolder('rate-limit'), { state: stateOf(rateLimits) });
  kits.push(kit);
  const bound = await kit.bind({ quota: 1, window: 1, policy_name: 'gold' });
  expect(await bound.onRequest(recordedExchange({}))).toBe(0);
  expect(taken).toEqual([expect.stringMatching(/^rate-limit:gold\|/)]);
});

describe('instances', () => {
  it('are shared out up to the cap; calls wait in a queue, and past it get 503', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const rateLimits = {
      take: async () => {
        await gate;
        return { allowed: true, remaining: 1, resetAt: 1, retryAfter: 0 };
      },
    };
    const kit = await openKit(builtinPluginFolder('rate-limit'), {
      state: stateOf(rateLimits),
      limits: { instances: 2, queue: 3 },
    });
    kits.push(kit);
    const bound = await kit.bind({ quota: 1, window: 1 });
    const requests = Array.from({ length: 7 }, () => recordedExchange({}));
    const calls = requests.map((exchange) => bound.onRequest(exchange));
    // What is past the queue waits for nobody, and neither does who leaves it.
    await Promise.all([calls[5], calls[6]]);
    requests[2]?.close();
    await calls[2];
    release();
    expect(await Promise.all(calls)).toEqual([0, 0, 1, 0, 0, 1, 1]);
    expect(requests[6]?.answer).toMatchObject({ problem: { status: 503, type: 'urn:gw:error:overloaded' } });
  });

  it('are waited for in shares: past the queue the newest call of the client with most gives way', async () => {
    const gate = Promise.withResolvers<void>();
    const rateLimits = {
      take: async () => {
        await gate.promise;
        return { allowed: true, remaining: 1, resetAt: 1, retryAfter: 0 };
      },
    };
    const limits = { instances: 2, queue: 3 };
    const kit = await openKit(builtinPluginFolder('rate-limit'), { state: stateOf(rateLimits), limits });
    kits.push(kit);
    const bound = await kit.bind({ quota: 1, window: 1 });
    const call = (clientIp: string) => bound.onRequest(recordedExchange({ clientIp }));
    // Each client holds an instance: nobody is below its share, and all others wait.
    const held = [call('192.0.2.9'), call('192.0.2.1')];
    const flood = [1, 2, 3].map(() => call('192.0.2.9'));
    const another = call('192.0.2.1');
    expect(await flood[2]).toBe(1);
    expect(await call('192.0.2.9')).toBe(1);
    gate.resolve();
    expect(await Promise.all([...held, flood[0], flood[1], another])).toEqual([0, 0, 0, 0, 0]);
  });

  it('share the memory of what waits: the client that holds most gives way', async () => {
    const gate = Promise.withResolvers<void>();
    const rateLimits = {
      take: async () => {
        await gate.promise;
        return { allowed: true, remaining: 1, resetAt: 1, retryAfter: 0 };
      },
    };
    const kit = await openKit(builtinPluginFolder('rate-limit'), {
      state: stateOf(rateLimits),
      limits: { waitingBytes: 10 * 65_536 },
    });
    kits.push(kit);
    const bound = await kit.bind({ quota: 1, window: 1 });
    const call = (clientIp: string) => bound.onRequest(recordedExchange({ clientIp }));
    const mine = call('192.0.2.1');
    const flood = Array.from({ length: 30 }, () => call('192.0.2.9'));
    // An instance has a page of 64 KiB at least.
    const evicted = await Promise.all(flood.slice(0, 20));
    expect(evicted).toEqual(Array(20).fill(1));
    const also = call('192.0.2.1');
    gate.resolve();
    expect(await Promise.all([mine, also])).toEqual([0, 0]);
    expect(await flood.at(-1)).toBe(0);
  });

  describe('that wait', () => {
    const OVERLOADED = { problem: { status: 503, type: 'urn:gw:error:overloaded' } };

    /** A plugin whose calls wait until they are let go, beside one whose calls wait for nothing. */
    async function sharing(instances: number) {
      const letGo: (() => void)[] = [];
      const rateLimits = {
        take: async () => {
          await new Promise<void>((resolve) => letGo.push(resolve));
          return { allowed: true, remaining: 1, resetAt: 1, retryAfter: 0 };
        },
      };
      const runtime = createPluginRuntime(
        { ...services, ...(await standaloneCapabilities({ state: stateOf(rateLimits) })) },
        { instances },
      );
      const load = async (folder: string, config: object) => {
        const { plugin, wasm, complete } = await readPluginFolder(folder);
        return (await runtime.load(plugin, wasm)).bind(complete(config as never));
      };
      const slow = await load(builtinPluginFolder('rate-limit'), { quota: 1, window: 1 });
      const quick = await load(join(fixtures, 'two-headers'), {});
      const call = (plugin: typeof slow, clientIp: string) => {
        const exchange = recordedExchange({ clientIp });
        const answered = Promise.resolve(plugin.onRequest(exchange)).then(() => exchange.answer);
        return { exchange, answered };
      };
      const hold = async (count: number, client: (i: number) => string) => {
        const held = Array.from({ length: count }, (_, i) => call(slow, client(i)));
        while (letGo.length < count) await immediate();
        return held;
      };
      const end = async () => {
        while (letGo.length > 0) {
          for (const each of letGo.splice(0)) each();
          await immediate();
        }
        runtime.close();
      };
      return { call, hold, end, slow, quick };
    }

    it('give one up for another plugin where they have more than their share', async () => {
      const { call, hold, end, quick } = await sharing(10);
      const held = await hold(10, (i) => `192.0.2.${i}`);
      expect(await call(quick, '198.51.100.1').answered).toBeNull();
      await end();
      const answers = await Promise.all(held.map(({ answered }) => answered));
      expect(answers.filter((answer) => answer !== null)).toMatchObject([OVERLOADED]);
      // The one that has waited longest.
      expect(answers[0]).not.toBeNull();
    });

    it('have all of them where there is no other plugin, and wait for one beyond that', async () => {
      const { call, hold, end, slow } = await sharing(10);
      const held = await hold(10, () => '192.0.2.1');
      const next = call(slow, '192.0.2.1');
      await end();
      expect(await Promise.all([...held, next].map(({ answered }) => answered))).toEqual(Array(11).fill(null));
    });

    it.each([
      ['192.0.2.1', '198.51.100.1'],
      ['2001:db8:0:1::%', '2001:db8:0:2::1'],
    ])('for the client %s give one up for the client %s', async (many, one) => {
      const { call, hold, end, slow } = await sharing(10);
      const held = await hold(10, (i) => many.replace('%', String(i + 1)));
      const next = call(slow, one);
      await immediate();
      await end();
      expect(await next.answered).toBeNull();
      const answers = await Promise.all(held.map(({ answered }) => answered));
      expect(answers.filter((answer) => answer !== null)).toMatchObject([OVERLOADED]);
    });

    it('for one client give up no more than others take, also where their plugin has more than its share', async () => {
      const { call, hold, end, slow, quick } = await sharing(20);
      const held = await hold(20, () => '192.0.2.1');
      // Both plugins hold some from here on, and the slow one more than half.
      const others = ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((client) => call(slow, client));
      await immediate();
      expect(await call(quick, '198.51.100.4').answered).toBeNull();
      await end();
      expect(await Promise.all(others.map(({ answered }) => answered))).toEqual([null, null, null]);
      const answers = await Promise.all(held.map(({ answered }) => answered));
      expect(answers.filter((answer) => answer !== null)).toHaveLength(4);
    });

    it('for bodies are none where the config says that it needs them', async () => {
      const kit = await openKit(builtinPluginFolder('cel'), { limits: { instances: 2, queue: 1 } });
      kits.push(kit);
      const bound = await kit.bind({ expression: 'request.body_json.a == 1', on_match: { deny: {} } });
      const arrivals: ((body: Buffer) => void)[] = [];
      const slow = Array.from({ length: 50 }, () => {
        const exchange = recordedExchange({
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        });
        exchange.readBody = () => new Promise((resolve) => arrivals.push(resolve));
        return { exchange, outcome: bound.onRequest(exchange) };
      });
      await immediate();
      const quick = recordedExchange({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"a":1}',
      });
      expect(await bound.onRequest(quick)).toBe(1);
      for (const [i, arrive] of arrivals.entries()) {
        arrive(Buffer.from('{"a":2}'));
        expect(await slow[i]?.outcome).toBe(0);
      }
    });
  });

  it('of idle plugins make room for others at the cap', async () => {
    const runtime = createPluginRuntime(services, { instances: 1 });
    const load = async (folder: string) => {
      const { plugin, wasm, complete } = await readPluginFolder(folder);
      return (await runtime.load(plugin, wasm)).bind(complete({}));
    };
    const [a, b] = [await load(join(fixtures, 'empty')), await load(join(fixtures, 'two-headers'))];
    for (let i = 0; i < 3; i++) {
      expect(await a.onRequest(recordedExchange({}))).toBe(0);
      expect(await b.onRequest(recordedExchange({}))).toBe(0);
    }
    a.close();
    expect(await b.onRequest(recordedExchange({}))).toBe(0);
    runtime.close();
  });
});
