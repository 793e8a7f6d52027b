import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { EventParser } from './server-sent-events.ts';

/** Name and data of each event that has some. */
function parse(...pieces: string[]) {
  const parser = new EventParser();
  const events = pieces.flatMap((piece) => parser.push(piece));
  expect(events.map(({ raw }) => raw).join('') + parser.rest).toBe(pieces.join(''));
  return events.flatMap(({ event, data }) => (data === null ? [] : [{ event, data }]));
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
    const parser = new EventParser();
    expect(() => {
      for (let i = 0; i < 200; i++) parser.push(`data: ${'x'.repeat(10_000)}\n`);
    }).toThrow('an event of the server has more than 1048576 characters');
  });
});
