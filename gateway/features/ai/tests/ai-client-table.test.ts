/** docs/ai-clients.md: what each official client gets through ai-proxy, behind apikey-auth; and what it sends as its key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientRig, SHOP_KEY, startClientRig } from '../../../../test/ai/clients/gateway-of-clients.ts';
import { DIRECT, lineOf, type Row, rowsOfNpm, rowsOfPyPI } from '../../../../test/ai/clients/table.ts';
import { NO_PYTHON } from '../../../../test/python/python.ts';

let rig: ClientRig;
beforeAll(async () => {
  rig = await startClientRig();
});
afterAll(async () => expect(await rig.close()).toBe(0));

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/ai-clients.md'), 'utf8');
const shown = PAGE.split('\n').filter((line) => line.startsWith('| `'));

function agree(rows: readonly Row[], lines: readonly string[]): void {
  expect(rows.map(lineOf)).toEqual(lines);
  for (const { client, surface, cells } of rows) {
    const refused = Object.entries(cells.get(DIRECT) ?? {}).filter(([, code]) => code !== null);
    expect(refused, `${client}, ${surface}, at ${DIRECT}`).toEqual([]);
  }
}

describe('the table of official clients', () => {
  it('has those of npm, and each passes at the fakes themselves', async () => {
    const isOfNpm = (line: string) => !line.includes('(PyPI)');
    agree(await rowsOfNpm(rig), shown.filter(isOfNpm));
  });

  it.skipIf(NO_PYTHON)(
    'has those of PyPI, and each passes at the fakes themselves (needs a Python with openai and anthropic)',
    async () => {
      const isOfPyPI = (line: string) => line.includes('(PyPI)');
      agree(await rowsOfPyPI(rig), shown.filter(isOfPyPI));
    },
  );
});

describe('the key of the gateway', () => {
  const asked = { model: 'claude-sonnet-5', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] };
  const url = () => rig.urlOf('provider_messages');
  const none = { apiKey: null, authToken: null, maxRetries: 0 };

  it('is no X-API-Key where a client of OpenAI or Anthropic gets it as its own: they send Authorization', async () => {
    for (const own of [{ apiKey: SHOP_KEY }, { authToken: SHOP_KEY }]) {
      const client = new Anthropic({ ...none, ...own, baseURL: url() });
      await expect(client.messages.create(asked)).rejects.toThrow(Anthropic.AuthenticationError);
    }
    const openai = new OpenAI({ apiKey: SHOP_KEY, baseURL: `${url()}/v1`, maxRetries: 0 });
    await expect(openai.chat.completions.create(asked)).rejects.toThrow(OpenAI.AuthenticationError);
  });

  it('is one where Vercel’s client of Anthropic gets it so', async () => {
    const model = createAnthropic({ apiKey: SHOP_KEY, baseURL: `${url()}/v1` })('claude-sonnet-5');
    expect((await generateText({ model, prompt: 'Hello', maxRetries: 0 })).text).toBe('Hello');
  });

  it('may be the whole Authorization, for clients that can add no header', async () => {
    const at = `${rig.gw.url}/bearer`;
    for (const own of [{ apiKey: SHOP_KEY }, { authToken: SHOP_KEY }]) {
      const client = new Anthropic({ ...none, ...own, baseURL: at });
      expect((await client.messages.create(asked)).content).toMatchObject([{ text: 'Hello' }]);
    }
    const openai = new OpenAI({ apiKey: SHOP_KEY, baseURL: `${at}/v1`, maxRetries: 0 });
    expect((await openai.chat.completions.create(asked)).choices[0]?.message.content).toBe('Hello');
    const other = new OpenAI({ apiKey: 'other', baseURL: `${at}/v1`, maxRetries: 0 });
    await expect(other.chat.completions.create(asked)).rejects.toThrow(OpenAI.AuthenticationError);
  });
});
