/** Guards see a text wherever it stands in requests and answers of all surfaces. */
import { join } from 'node:path';
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORDED_ANSWERS, RECORDED_STREAMS } from '../../../../../test/ai/recorded-answers.ts';
import { RECORDED_REQUESTS } from '../../../../../test/ai/recorded-requests.ts';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { recordedExchange } from '../../../../sdk/testing/recorder.ts';
import { TokenEstimate } from '../proxy/token-estimate.ts';

const plugins = join(import.meta.dirname, '..', '..', 'plugins');
let prompts: PluginKit;
let answers: PluginKit;
beforeAll(async () => {
  prompts = await testPlugin(join(plugins, 'ai-prompt-guard'));
  answers = await testPlugin(join(plugins, 'ai-response-guard'));
});
afterAll(() => {
  prompts.close();
  answers.close();
});

type Path = readonly (string | number)[];
/** Puts a text at a place of a copy. */
type Put = (text: string) => unknown;

type Container = Record<string | number, unknown>;

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/** A copy of `root`, in which `change` has been applied to what holds the value at `path`. */
function changed(root: unknown, path: Path, change: (parent: Container, key: string | number) => void): unknown {
  const copy: Container = structuredClone({ root });
  let parent = copy;
  const steps = ['root', ...path];
  for (const step of steps.slice(0, -1)) {
    const next = parent[step];
    if (!isContainer(next)) throw new Error(`no ${path.join('.')}`);
    parent = next;
  }
  change(parent, steps.at(-1) ?? 'root');
  return copy['root'];
}

/** Every place of a string: values, names of members, and one more member in each object. */
function placesOf(root: unknown): (readonly [where: string, put: Put])[] {
  const places: (readonly [string, Put])[] = [];
  const member = (path: Path, add: (object: Container, text: string) => void): Put => {
    return (text) =>
      changed(root, path, (parent, key) => {
        const object = parent[key];
        if (isContainer(object)) add(object, text);
      });
  };
  const walk = (value: unknown, path: Path): void => {
    const where = path.join('.');
    if (typeof value === 'string') {
      places.push([
        where,
        (text) =>
          changed(root, path, (parent, key) => {
            parent[key] = text;
          }),
      ]);
    } else if (Array.isArray(value)) {
      for (const [i, each] of value.entries()) walk(each, [...path, i]);
    } else if (isContainer(value)) {
      for (const [name, each] of Object.entries(value)) walk(each, [...path, name]);
      const unknown = member(path, (object, text) => Object.assign(object, { unheard_of: [{ documents: text }] }));
      const named = member(path, (object, text) => Object.assign(object, { [text]: 1 }));
      places.push([`${where}.<new>`, unknown], [`${where}.<name>`, named]);
    }
  };
  walk(root, []);
  return places;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Forms of a text: as such, and in what pretends to be a file. */
const FORMS: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['behind the head of a data URL without a type', (text) => `data:;base64, ${text}`],
  ['behind the head of a picture', (text) => `data:image/png;base64, ${text}`],
  ['behind that of a file in Base64 that has ended', (text) => `data:image/png;base64,iVBORw0KGgo=${text}`],
];

describe('ai-prompt-guard', () => {
  const config = { default_profile: 'p', profiles: { p: { blocked_patterns: ['zq mark \\d'] } } };
  const ask = async (body: unknown) =>
    (await prompts.onRequest({ config, method: 'POST', body: JSON.stringify(body) })).problem?.['code'] ?? null;

  it.each(Object.entries(RECORDED_REQUESTS))('passes %s as recorded', async (_, request) => {
    expect(await ask(request)).toBeNull();
  });

  it.each(Object.entries(RECORDED_REQUESTS))(
    'finds a text at every place of %s, in whatever form',
    async (_, request) => {
      const missed: string[] = [];
      for (const [where, put] of placesOf(request)) {
        for (const [form, make] of FORMS) {
          const code = await ask(put(make('the zq mark 7')));
          // The case of a member that policies look at is refused before.
          if (code !== 'prompt_blocked') missed.push(`${where} ${form}: ${code}`);
        }
      }
      expect(missed).toEqual([]);
    },
  );

  it('finds a name in one piece, but for that of the model that is asked', async () => {
    const named = { default_profile: 'p', profiles: { p: { blocked_patterns: ['zq-mark'] } } };
    const code = async (body: object) => {
      const { problem } = await prompts.onRequest({ config: named, method: 'POST', body: JSON.stringify(body) });
      return problem?.['code'] ?? null;
    };
    expect(await code({ model: 'zq-mark', messages: [] })).toBeNull();
    expect(await code({ messages: [{ role: 'user', content: 'x', model: 'zq-mark' }] })).toBe('prompt_blocked');
    expect(await code({ messages: [{ role: 'user', content: 'x', name: 'zq-mark' }] })).toBe('prompt_blocked');
    expect(await code({ messages: [{ role: 'zq-mark', content: 'x' }] })).toBe('prompt_blocked');
    expect(await code({ messages: [], user: 'zq-mark' })).toBe('prompt_blocked');
  });

  it('finds a text in a file of text, where a file may stand', async () => {
    const text = base64('the zq mark 7');
    const file = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
    for (const type of ['text/plain', 'text/csv', 'application/json', 'image/svg+xml', 'image/png']) {
      const url = `data:${type};base64,${text}`;
      expect(await ask(file({ type: 'image_url', image_url: { url } }))).toBe('prompt_blocked');
      expect(await ask(file({ type: 'file', file: { file_data: url } }))).toBe('prompt_blocked');
      const source = { type: 'base64', media_type: type, data: text };
      expect(await ask(file({ type: 'document', source }))).toBe('prompt_blocked');
      expect(await ask({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] })).toBe(
        'prompt_blocked',
      );
    }
  });

  it('finds a text that was split between parts, also at a space', async () => {
    const text = 'the zq mark 7 is here';
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: text.length - 1 }), fc.constantFrom('', ' '), async (at, gap) => {
        const [one, other] = [text.slice(0, at), text.slice(at)];
        const parts = gap === '' ? [one, other] : [one.trimEnd(), other.trimStart()];
        const content = parts.map((each) => ({ type: 'text', text: each }));
        expect(await ask({ messages: [{ role: 'user', content }] })).toBe('prompt_blocked');
      }),
      propertyRuns(30),
    );
  });

  it('counts the characters of every text, whatever it says that it is', async () => {
    const limited = { default_profile: 'p', profiles: { p: { max_characters: 1_000 } } };
    for (const [, request] of Object.entries(RECORDED_REQUESTS)) {
      for (const [where, put] of placesOf(request)) {
        const body = JSON.stringify(put(`data:;base64, ${'x'.repeat(3_000)}`));
        const { problem } = await prompts.onRequest({ config: limited, method: 'POST', body });
        expect([where, problem?.['code']]).toEqual([where, 'prompt_too_long']);
      }
    }
  });
});

describe('ai-response-guard', () => {
  const MAIL = 'ann@example.com';
  const config = {
    default_profile: 'p',
    profiles: { p: { pii: { email: 'redact' } }, q: { blocked_patterns: ['zq mark \\d'] } },
  };
  const respond = (body: string, type: string, policy = 'p') =>
    answers.onResponse({
      config,
      context: { 'ai.policy': policy },
      response: { status: 200, headers: { 'content-type': type }, body },
    });
  const eventsOf = (events: unknown) =>
    (Array.isArray(events) ? events : []).map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

  it.each(Object.entries(RECORDED_ANSWERS))('leaves %s as recorded', async (_, answer) => {
    const { response } = await respond(JSON.stringify(answer), 'application/json');
    expect(JSON.parse(response.body)).toEqual(answer);
  });

  it.each(Object.entries(RECORDED_ANSWERS))('takes a text out of every place of %s', async (_, answer) => {
    const missed: string[] = [];
    for (const [where, put] of placesOf(answer)) {
      const { response } = await respond(JSON.stringify(put(`to ${MAIL} now`)), 'application/json');
      if (!response.body.includes('[EMAIL]') || response.body.includes(MAIL)) missed.push(where);
    }
    expect(missed).toEqual([]);
  });

  it.each(Object.entries(RECORDED_STREAMS))('takes a text out of every place of a stream of %s', async (_, events) => {
    const missed: string[] = [];
    for (const [where, put] of placesOf(events)) {
      const { response } = await respond(eventsOf(put(`to ${MAIL} now`)), 'text/event-stream');
      if (!response.body.includes('[EMAIL]') || response.body.includes(MAIL)) missed.push(where);
    }
    expect(missed).toEqual([]);
  });

  it.each(Object.entries(RECORDED_STREAMS))(
    'withholds a stream of %s that has what is blocked, wherever',
    async (_, events) => {
      const missed: string[] = [];
      for (const [where, put] of placesOf(events)) {
        const { response } = await respond(eventsOf(put('the zq mark 7')), 'text/event-stream', 'q');
        if (response.body.includes('zq mark') || !response.body.includes('error')) missed.push(where);
      }
      expect(missed).toEqual([]);
    },
  );

  it.each<[string, (text: string) => object]>([
    ['content', (content) => ({ content })],
    ['a part of it', (text) => ({ content: [{ type: 'text', text }] })],
    ['a transcript', (transcript) => ({ audio: { transcript } })],
    ['details of reasoning', (text) => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })],
    ['the input of a custom tool', (input) => ({ tool_calls: [{ index: 1, custom: { input } }] })],
  ])('takes a text out of pieces of %s, wherever it is cut', async (_, delta) => {
    const text = `to ${MAIL} now`;
    const chunk = (change: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta: change, finish_reason }],
    });
    for (let at = 1; at < text.length; at++) {
      const pieces = [chunk(delta(text.slice(0, at))), chunk(delta(text.slice(at))), chunk({}, 'stop')];
      const { response } = await respond(eventsOf(pieces), 'text/event-stream');
      const deltas = [...response.body.matchAll(/^data: (.*)$/gm)].map(
        ([, data = '']) => JSON.parse(data).choices[0].delta,
      );
      const whole = deltas.flatMap(
        (each) => JSON.stringify(each).match(/(?<="(?:content|text|transcript|input)":")[^"]*/g) ?? [],
      );
      expect([at, whole.join('')]).toEqual([at, 'to [EMAIL] now']);
    }
  });

  it('reads JSON behind a byte order mark, lists, and what only says that it is JSON', async () => {
    for (const body of [`\ufeff{"any":"${MAIL}"}`, `["${MAIL}"]`, `"${MAIL}"`, MAIL]) {
      const { response } = await respond(body, 'application/json');
      expect(response.body).toContain('[EMAIL]');
      expect(response.body).not.toContain(MAIL);
    }
  });
});

describe('an estimate of tokens', () => {
  const tokens = async (content: unknown) => {
    const exchange = recordedExchange({ path: '/v1/chat/completions' });
    return (await TokenEstimate.begin(exchange, { messages: [{ role: 'user', content }] })).prompt;
  };

  it('is that of a file for what is one, and that of a text for what only says so', async () => {
    const picture = Buffer.alloc(300_000, 0xff).toString('base64');
    const url = (text: string) => [{ type: 'image_url', image_url: { url: `data:image/png;base64,${text}` } }];
    expect(await tokens(url(picture))).toBeLessThan(1_100);
    expect(await tokens(url('x '.repeat(150_000)))).toBeGreaterThan(75_000);
    expect(await tokens(`data:;base64, ${'x'.repeat(300_000)}`)).toBeGreaterThan(75_000);
    expect(await tokens([{ type: 'base64', text: 'x'.repeat(300_000) }])).toBeGreaterThan(75_000);
  });
});
