/** What a server that parses in turns reads is what node:http reads, however the bytes arrive. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { parseInTurns } from './read-in-slices.ts';

/** Answers with what it has read. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.sendDate = false;
  let body = '';
  try {
    for await (const chunk of request.setEncoding('latin1')) body += chunk;
  } catch {
    return void response.destroy();
  }
  const { method, url, rawHeaders, rawTrailers } = request;
  response.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, body }));
}

const servers: Server[] = [];
async function listening(isSliced: boolean): Promise<number> {
  const server = createServer(echo);
  if (isSliced) parseInTurns(server, false);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

let [plain, sliced] = [0, 0];
beforeAll(async () => {
  [plain, sliced] = [await listening(false), await listening(true)];
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** All that is answered on a connection on which these pieces are written one after another. */
async function answers(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1');
  let read = '';
  socket.on('data', (text: string) => {
    read += text;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, 'latin1', resolve));
  socket.end();
  await closed;
  return read;
}

const letters = fc.stringMatching(/^[a-z0-9 \r\n]{0,40}$/);
const body = fc.oneof(
  letters,
  fc.integer({ min: 0, max: 20_000 }).map((length) => 'x'.repeat(length)),
);
const fields = fc.array(fc.stringMatching(/^x-[a-z]{1,8}: [a-z ]{0,30}$/), { maxLength: 6 });
const trailers = fc.constantFrom('', 'x-sum: 1\r\n');
const chunked = (text: string, length: number, trailer: string) => {
  const chunks = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
  return `${chunks.map((each) => `${each.length.toString(16)}\r\n${each}\r\n`).join('')}0\r\n${trailer}\r\n`;
};
const message = fc.oneof(
  fc
    .tuple(fields, fc.constantFrom('GET', 'DELETE'))
    .map(([more, method]) => `${method} /a HTTP/1.1\r\n${head(more)}\r\n`),
  fc
    .tuple(fields, body)
    .map(([more, text]) => `POST /b HTTP/1.1\r\n${head([...more, `content-length: ${text.length}`])}\r\n${text}`),
  fc.tuple(fields, body, fc.integer({ min: 1, max: 5_000 }), trailers).map(([more, text, length, trailer]) => {
    const begins = `PUT /c HTTP/1.1\r\n${head([...more, 'transfer-encoding: chunked'])}\r\n`;
    return begins + chunked(text.slice(0, 4_000), length, trailer);
  }),
);
const last = `GET /last HTTP/1.1\r\n${head(['connection: close'])}\r\n`;

function head(more: readonly string[]): string {
  return ['host: a', ...more].map((each) => `${each}\r\n`).join('');
}

/** The text in pieces that end at such parts of it. */
function piecesOf(text: string, cuts: readonly number[]): string[] {
  const ends = [...cuts.map((cut) => Math.floor(cut * text.length)), text.length].sort((a, b) => a - b);
  return ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end)).filter((piece) => piece !== '');
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });

it('reads the same requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 40 }), cuts, async (messages, at) => {
      const pieces = piecesOf(messages.join('') + last, at);
      const expected = await answers(plain, pieces);
      expect(expected).toContain('/last');
      expect(await answers(sliced, pieces)).toBe(expected);
    }),
    propertyRuns(60),
  );
});

it('refuses the same bytes, behind the same answers', async () => {
  const damage = fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 6 }),
      cuts,
      damage,
      async (messages, at, [where, what]) => {
        const text = messages.join('') + last;
        const place = Math.floor(where * text.length);
        const pieces = piecesOf(text.slice(0, place) + what + text.slice(place + what.length), at);
        const [expected, read] = [await answers(plain, pieces), await answers(sliced, pieces)];
        // Which of the answers to what came before the damage are sent depends on when it is read.
        const [one, other] = [bodiesOf(expected), bodiesOf(read)];
        const both = Math.min(one.length, other.length);
        expect(other.slice(0, both)).toEqual(one.slice(0, both));
        expect(read.includes('"/last"')).toBe(expected.includes('"/last"'));
      },
    ),
    propertyRuns(60),
  );
});

/** What the answers say was read. */
function bodiesOf(text: string): readonly string[] {
  return text.match(/\{"method".*?\}(?=HTTP|$)/gs) ?? [];
}
