import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

interface Config {
  readonly deny?: string[];
  readonly allow?: string[];
  readonly block_empty_ua?: boolean;
  readonly message?: string;
  readonly status?: number;
}

const passes = async (config: Config, agent?: string) =>
  (await kit.onRequest({ config: { ...config }, headers: agent === undefined ? {} : { 'user-agent': agent } }))
    .outcome === 'continue';

describe('bot-detection', () => {
  it('refuses nothing with both lists empty', async () => {
    expect(await passes({}, 'curl/8.0')).toBe(true);
    expect(await passes({})).toBe(true);
    expect(await passes({ allow: ['curl'] }, 'wget')).toBe(true);
  });

  it('refuses what holds an entry of deny, in any case', async () => {
    const config = { deny: ['CURL', 'python-Requests', 'bot'] };
    for (const agent of ['curl/8.0', 'libcURL', 'Mozilla/5.0 PYTHON-REQUESTS/2', 'bot', 'a robot']) {
      expect(await passes(config, agent)).toBe(false);
    }
    for (const agent of ['Mozilla/5.0', 'cur', 'b ot', 'c-url']) expect(await passes(config, agent)).toBe(true);
  });

  it('passes what holds an entry of allow, whatever deny says', async () => {
    const config = { deny: ['bot'], allow: ['googlebot'] };
    expect(await passes(config, 'Mozilla/5.0 (compatible; Googlebot/2.1)')).toBe(true);
    expect(await passes(config, 'EvilBot')).toBe(false);
  });

  it('refuses requests without User-Agent where block_empty_ua says so', async () => {
    expect(await passes({ deny: ['curl'] })).toBe(true);
    expect(await passes({ block_empty_ua: true })).toBe(false);
    expect(await passes({ block_empty_ua: true }, ' ')).toBe(false);
    expect(await passes({ block_empty_ua: true }, 'x')).toBe(true);
  });

  it('answers with the problem of the reference, and the agent', async () => {
    const { answer, problem } = await kit.onRequest({
      config: { deny: ['curl'] },
      headers: { 'user-agent': 'curl/8.0 "é"' },
    });
    expect(answer?.status).toBe(403);
    expect(problem).toEqual({
      type: 'urn:gw:error:bot-detected',
      title: 'Forbidden',
      status: 403,
      detail: 'Access denied',
      user_agent: 'curl/8.0 "é"',
    });
  });

  it('leaves user_agent out where there was none; takes status and message from its config', async () => {
    const config = { block_empty_ua: true, status: 429, message: 'Say who you are' };
    const { answer, problem } = await kit.onRequest({ config });
    expect(answer?.status).toBe(429);
    expect(problem).toEqual({
      type: 'urn:gw:error:bot-detected',
      title: 'Forbidden',
      status: 429,
      detail: 'Say who you are',
    });
  });

  it('searches a long agent for many entries within its CPU time', async () => {
    const deny = Array.from({ length: 1_000 }, (_, i) => `agent-${i}-${'a'.repeat(200)}`);
    expect(await passes({ deny }, 'agent-'.repeat(1_300))).toBe(true);
    expect(await passes({ deny }, `${'agent-'.repeat(1_200)}agent-999-${'A'.repeat(200)}`)).toBe(false);
  });

  it('finds what a plain search finds', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'B', 'c', '-'), minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 12 }), fc.array(word, { maxLength: 6 }), async (deny, parts) => {
        const agent = parts.join('').toLowerCase();
        const found = deny.some((each) => agent.includes(each.toLowerCase()));
        expect(await passes({ deny }, agent.toUpperCase())).toBe(!found);
      }),
      propertyRuns(100),
    );
  });

  it.each([{ deny: [''] }, { allow: 'curl' }, { deny: [1] }, { status: 302 }, { block_empty_ua: 'yes' }, { other: 1 }])(
    'refuses the config %j',
    async (bad) => {
      await expect(kit.bind(bad)).rejects.toThrow(/schema/);
    },
  );
});
