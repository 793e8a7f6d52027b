/** Reading messages of clients: turns of long ones, and their memory. */
import { describe, expect, it } from 'vitest';
import { Exchange, Interrupted } from '../exchange.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { MessageReader } from './read-messages.ts';

const NOBODY = { send() {}, stream: () => expect.unreachable(), headSent: false, abort() {} };

function exchangeFrom(clientIp: string): Exchange {
  return new Exchange(NOBODY, {
    method: 'POST',
    target: '/__gw/mcp',
    scheme: 'http',
    headers: [],
    clientIp,
    body: null,
  });
}

const message = (id: number, more: object = {}) =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: { more } }));
const LONG = { pad: 'a'.repeat(20_000) };

describe('messages of MCP', () => {
  it('long ones are read in turns of clients, and short ones at once', async () => {
    const reader = new MessageReader();
    const read: string[] = [];
    const all = ['a', 'a', 'a', 'a', 'b'].map((client, i) =>
      reader
        .read(exchangeFrom(client === 'a' ? '192.0.2.1' : '192.0.2.2'), message(i, LONG))
        .then(() => read.push(client)),
    );
    const short = await reader.read(exchangeFrom('192.0.2.1'), message(9));
    expect([short.kind, read.length < 5]).toEqual(['request', true]);
    await Promise.all(all);
    expect(read.indexOf('b')).toBeLessThan(3);
  });

  it('long ones that find no turn are 503, of the client with most', async () => {
    const reader = new MessageReader({ mostWaiting: 2 });
    const flood = Array.from({ length: 4 }, (_, i) => {
      const exchange = exchangeFrom('192.0.2.1');
      return reader.read(exchange, message(i, LONG)).then(
        () => 'read',
        (error: unknown) => (error instanceof Interrupted && exchange.answer !== null ? 'refused' : 'failed'),
      );
    });
    const other = reader.read(exchangeFrom('192.0.2.2'), message(9, LONG));
    expect((await other).kind).toBe('request');
    const seen = await Promise.all(flood);
    expect([seen[0], seen.includes('failed'), seen.filter((each) => each === 'refused').length > 0]).toEqual([
      'read',
      false,
      true,
    ]);
  });

  it('count as what they take once they are parsed, until their request ends', async () => {
    const reader = new MessageReader();
    const budget = new BufferBudget(1 << 20);
    const of = (clientIp: string) => Object.assign(exchangeFrom(clientIp), { memory: budget });
    const first = of('192.0.2.1');
    const values = { pad: Array.from({ length: 5_000 }, () => ({})) };
    await reader.read(first, message(1, values));
    expect(budget.used).toBeGreaterThan(30 * message(1, values).length);
    const second = of('192.0.2.1');
    await expect(reader.read(second, message(2, values))).rejects.toBeInstanceOf(Interrupted);
    expect(second.answer).toMatchObject({ problem: { status: 503 } });
    first.close();
    second.close();
    expect(budget.used).toBe(0);
  });
});
