import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { SERVER_SENT_EVENTS } from './channel.ts';
import { eventOf, gapOf } from './client-event.ts';
import type { StreamMessage } from './topic-source.ts';

const messageOf = (payload: Buffer | null): StreamMessage => ({
  partition: 0,
  offset: 1,
  key: null,
  payload,
  metadata: () => ({ offset: 1 }),
});

/** As HTML, section 9.2.6 says: what a client is told of the first event. */
function parsed(text: string): { readonly event: string; readonly id: string; readonly data: string } | null {
  const fields = { event: '', id: '' };
  const data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') break;
    const colon = line.indexOf(':');
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (name === 'data') data.push(value);
    else if (name === 'event' || name === 'id') fields[name] = value;
  }
  return data.length === 0 ? null : { ...fields, data: data.join('\n') };
}

describe('server-sent events', () => {
  it('have the text of a message, whatever stands in it, with line breaks as LF', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.constantFrom('\r', '\n', '\r\n', ''),
        (one, end) => {
          const text = `${one}${end}${one}`;
          const written = SERVER_SENT_EVENTS.write(eventOf(messageOf(Buffer.from(text)), false), '0:2').toString();
          expect(parsed(written)).toEqual({ event: '', id: '0:2', data: text.replaceAll(/\r\n|\r/g, '\n') });
          expect(written.endsWith('\n\n')).toBe(true);
        },
      ),
      propertyRuns(500),
    );
  });

  it('have a message with its metadata as one JSON object, from which its bytes come back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const event = parsed(SERVER_SENT_EVENTS.write(eventOf(messageOf(Buffer.from(bytes)), true), null).toString());
        const { encoding, payload } = JSON.parse(event?.data ?? '');
        if (encoding === 'json') expect(JSON.parse(Buffer.from(bytes).toString())).toEqual(payload);
        else expect(Buffer.from(payload, encoding === 'base64' ? 'base64' : 'utf8')).toEqual(Buffer.from(bytes));
      }),
      propertyRuns(500),
    );
  });

  it('move a client on without an event, and say what is lost', () => {
    const { opening, heartbeat, write } = SERVER_SENT_EVENTS;
    expect(parsed(opening('0:1', 100).toString())).toBe(null);
    expect(parsed(heartbeat('0:1').toString())).toBe(null);
    expect(opening(null, 100).toString()).toBe('retry: 100\n\n');
    expect(heartbeat(null).toString()).toBe(':\n\n');
    const gap = write(gapOf({ partition: 0, from: 1, to: 3 }), '0:3').toString();
    expect(parsed(gap)).toMatchObject({ event: 'gap', id: '0:3' });
  });
});
