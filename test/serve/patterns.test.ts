/**
 * Patterns of an API description as clients of `gw serve` meet them: none stops the others
 * (docs/decisions.md#patterns-bounded).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const PATTERNS = {
  arn: '^arn:([a-z0-9-]+:?)+[/]{0,1024}$',
  ahead: '^(?=(a+)+$)a*$',
  again: '^(\\w+)-\\1$',
};

const document = {
  openapi: '3.1.0',
  info: { title: 'Patterns', version: '1' },
  paths: {
    '/bodies': {
      post: {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: Object.fromEntries(
                  Object.entries(PATTERNS).map(([name, pattern]) => [name, { type: 'string', pattern }]),
                ),
              },
            },
          },
        },
        responses: { 200: { description: 'OK' } },
        'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
      },
    },
    '/queries': {
      get: {
        parameters: [{ name: 'q', in: 'query', schema: { type: 'string', pattern: PATTERNS.ahead } }],
        responses: { 200: { description: 'OK' } },
        'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
      },
    },
    '/others': {
      get: {
        responses: { 200: { description: 'OK' } },
        'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
      },
    },
  },
};

const HOSTILE = `${'a'.repeat(60)}!`;

describe('patterns', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(document, ['mock']));
  });
  afterAll(() => gw?.stop());

  const post = (body: object) =>
    fetch(`${gw.url}/bodies`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const count = async (path: string) => {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    const line = text.split('\n').find((each) => each.includes('reason="pattern-steps"') && each.includes(`"${path}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };

  it('hold or do not, whichever way they are matched', async () => {
    const good = { arn: 'arn:aws:s3', ahead: 'aaa', again: 'ab-ab' };
    expect((await post(good)).status).toBe(200);
    for (const name of Object.keys(good)) expect((await post({ ...good, [name]: 'arn!' })).status, name).toBe(400);
  });

  it('that a body makes slow end with 400 that says so, and requests beside them are answered', async () => {
    const bodies = [
      { arn: `arn:${HOSTILE}` },
      { ahead: HOSTILE },
      { ahead: HOSTILE },
      { again: `${'ab'.repeat(900)}-` },
    ];
    const hostile = bodies.map(async (body) => {
      const answer = await post(body);
      return [answer.status, ((await answer.json()) as { detail: string }).detail];
    });
    const others = Array.from({ length: 20 }, async () => (await fetch(`${gw.url}/others`)).status);
    expect(new Set(await Promise.all(others))).toEqual(new Set([200]));
    const answers = await Promise.all(hostile);
    const mismatch = [400, 'The request does not match the API description (body).'];
    const steps = [400, expect.stringContaining('takes more steps to validate against the API description')];
    expect(answers).toEqual([mismatch, steps, steps, mismatch]);
    expect(await count('/bodies')).toBe(2);
  });

  it('that a query makes slow do as well', async () => {
    const answer = await fetch(`${gw.url}/queries?q=${HOSTILE}`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { type: 'urn:gw:error:validation-failed' }]);
    expect(await count('/queries')).toBe(1);
  });

  it('may take what --max-pattern-steps says', async () => {
    const strict = await startGateway(await compileSpec(document, ['mock']), { args: ['--max-pattern-steps', '1000'] });
    try {
      const ask = async (length: number) => (await fetch(`${strict.url}/queries?q=${'a'.repeat(length)}`)).status;
      expect([await ask(10), await ask(1000)]).toEqual([200, 400]);
    } finally {
      await strict.stop();
    }
  });
});
