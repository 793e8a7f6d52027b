import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { ControlClient } from './client.ts';
import { createParser, type ServerSentEvent } from './server-sent-events.ts';

function parse(...pieces: string[]): readonly ServerSentEvent[] {
  return pieces.flatMap(createParser());
}

describe('a stream of events', () => {
  it('has names and data; comments and half an event say nothing', () => {
    const text = ': hello\n\nevent: deployment\ndata: {"a":\ndata: 1}\n\ndata: [2]\r\n\r\nevent: late\ndata: 3\n';
    expect(parse(text)).toEqual([
      { event: 'deployment', data: '{"a":\n1}' },
      { event: 'message', data: '[2]' },
    ]);
  });

  it('is the same in whatever pieces it comes', () => {
    const events = fc.array(fc.record({ event: fc.constantFrom('a', 'b'), data: fc.json() }), { maxLength: 5 });
    const line = fc.constantFrom('\n', '\r\n', '\r');
    const check = fc.property(events, line, fc.array(fc.nat(200)), (sent, end, cuts) => {
      const text = sent.map(({ event, data }) => `event: ${event}${end}data: ${data}${end}${end}`).join('');
      const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].sort((a, b) => a - b);
      expect(parse(...at.slice(1).map((to, i) => text.slice(at[i], to)))).toEqual(sent);
    });
    fc.assert(check, propertyRuns(300));
  });

  it('is refused where an event has no end', () => {
    const parser = createParser();
    expect(() => {
      for (let i = 0; i < 200; i++) parser(`data: ${'x'.repeat(10_000)}\n`);
    }).toThrow('an event of the server has more than 1048576 characters');
  });
});

it('the client leaves out events whose data is no JSON, and goes on', async () => {
  const text = 'event: compilation\ndata: {nonsense\n\nevent: compilation\ndata: 1\n\n';
  const client = new ControlClient({ token: undefined, fetch: async () => new Response(text) });
  const events = [];
  for await (const event of await client.events('compilations.events', { params: { id: 'any' } })) events.push(event);
  expect(events).toEqual([{ event: 'compilation', data: 1 }]);
});
