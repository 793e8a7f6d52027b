/** Servers that say much before their answer: what a call takes of them, and what it tells them. */
import { expect, it } from 'vitest';
import { type Asking, McpClient, type Session } from './client.ts';
import { TooManyMessages } from './receive.ts';
import type { McpTransport, SentRequest, StreamedAnswer } from './transport.ts';

const SESSION: Session = { era: 'sessions', headers: [], server: {} };
const eventOf = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const PROGRESS = eventOf({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
const questionOf = (method: string) => eventOf({ id: 'q', method, params: {} });
const ANSWER = eventOf({ id: 1, result: { content: [] } });

/** Sends `piece` again and again, so often, and then the answer, to the first request. */
function server(piece: string, times: number) {
  const posts: SentRequest[] = [];
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < times; i++) yield Buffer.from(piece);
    yield Buffer.from(ANSWER);
  }
  const transport: McpTransport = {
    async send(request): Promise<StreamedAnswer> {
      posts.push(request);
      const headers = ['content-type', 'text/event-stream'];
      return { status: 200, headers, body: body(), cancel: () => {} };
    },
  };
  return { client: new McpClient(transport), posts };
}

function asking(onMessage: () => void): Asking {
  return {
    headers: [],
    signal: AbortSignal.timeout(600_000),
    most: 4 << 20,
    onMessage: async () => {
      onMessage();
      return true;
    },
  };
}

const CALL = { method: 'tools/call', params: { name: 'a' } };

it.each([
  { what: 'progress', piece: PROGRESS.repeat(1_000), told: 5_000 },
  { what: 'comments', piece: ': x\n\n'.repeat(1_000), told: 0 },
  { what: 'empty lines', piece: '\n'.repeat(60_000), told: 0 },
])('ends a call whose server sends $what without an end', async ({ piece, told }) => {
  let messages = 0;
  const { client } = server(piece, 1_000);
  await expect(
    client.ask(
      CALL,
      SESSION,
      asking(() => messages++),
    ),
  ).rejects.toThrow(TooManyMessages);
  expect(messages).toBe(told);
});

it('tells of some thousand messages before the answer, and gives turns to others meanwhile', async () => {
  let messages = 0;
  let inTurn = 0;
  let mostInTurn = 0;
  const { client } = server(PROGRESS.repeat(2_000), 2);
  const result = await client.ask(
    CALL,
    SESSION,
    asking(() => {
      messages++;
      if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
      mostInTurn = Math.max(mostInTurn, inTurn);
      for (const until = performance.now() + 0.1; performance.now() < until; );
    }),
  );
  expect([result, messages]).toEqual([{ content: [] }, 4_000]);
  // Two slices of 4 KiB.
  expect(mostInTurn).toBeLessThanOrEqual((2 * 4096) / PROGRESS.length + 2);
});

it.each([
  { method: 'sampling/createMessage', most: 3 },
  { method: 'elicitation/create', most: 3 },
  { method: 'ping', most: 100 },
])('answers $method $most times in a call, and then ends it', async ({ method, most }) => {
  const { client, posts } = server(questionOf(method), 1_000);
  await expect(
    client.ask(
      CALL,
      SESSION,
      asking(() => {}),
    ),
  ).rejects.toThrow(TooManyMessages);
  expect(posts.length).toBe(1 + most);
});

it('goes on with a call whose server asks a few times', async () => {
  const { client, posts } = server(questionOf('sampling/createMessage'), 3);
  expect(
    await client.ask(
      CALL,
      SESSION,
      asking(() => {}),
    ),
  ).toEqual({ content: [] });
  expect(posts.length).toBe(4);
});
