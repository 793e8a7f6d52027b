/** What the console reads by itself: streams of events, and archives. */
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { eventParser, type ServerEvent } from '../../control/ui/api/event-parser.ts';
import { filesOf } from '../../control/ui/editor/archive.ts';
import { propertyRuns } from '../property-runs.ts';

function parse(...chunks: string[]): ServerEvent[] {
  const events: ServerEvent[] = [];
  const parser = eventParser((event) => events.push(event));
  for (const chunk of chunks) parser(chunk);
  return events;
}

describe('a stream of events', () => {
  it('has names and data; comments and half an event say nothing', () => {
    const text = ': hello\n\nevent: deployment\ndata: {"a":\ndata: 1}\n\ndata: [2]\r\n\r\nevent: late\ndata: 3\n';
    expect(parse(text)).toEqual([
      { name: 'deployment', data: { a: 1 } },
      { name: 'message', data: [2] },
    ]);
  });

  it('leaves out what is no JSON, and goes on', () => {
    expect(parse('data: {nonsense\n\ndata: 1\n\n')).toEqual([{ name: 'message', data: 1 }]);
  });

  it('is the same in whatever pieces it comes', () => {
    const events = fc.array(fc.record({ name: fc.constantFrom('a', 'b'), data: fc.jsonValue() }), { maxLength: 5 });
    const line = fc.constantFrom('\n', '\r\n');
    const check = fc.property(events, line, fc.array(fc.nat(200)), (sent, end, cuts) => {
      const text = sent
        .map(({ name, data }) => `event: ${name}${end}data: ${JSON.stringify(data)}${end}${end}`)
        .join('');
      const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].sort((a, b) => a - b);
      const chunks = at.slice(1).map((to, i) => text.slice(at[i], to));
      expect(parse(...chunks)).toEqual(
        sent.map(({ name, data }) => ({ name, data: JSON.parse(JSON.stringify(data)) })),
      );
    });
    fc.assert(check, propertyRuns(300));
  });
});

describe('the files of an uploaded spec', () => {
  const long = `${'folder/'.repeat(20)}schemas.yaml`;
  async function tar(files: Readonly<Record<string, string>>): Promise<Buffer> {
    const archive = pack();
    for (const [name, text] of Object.entries(files)) archive.entry({ name }, text);
    archive.finalize();
    const chunks: Uint8Array[] = [];
    archive.on('data', (chunk) => chunk instanceof Uint8Array && chunks.push(chunk));
    await once(archive, 'end');
    return Buffer.concat(chunks);
  }

  it('are one, or those of the archive, also with long names', async () => {
    expect(await filesOf(new Blob(['a: 1']), 'v2.yaml', 'a.yaml')).toEqual(new Map([['a.yaml', 'a: 1']]));
    const files = { './api.yaml': 'openapi: 3.1.0', [long]: 'ä'.repeat(700), 'empty.yaml': '' };
    const expected = new Map([['api.yaml', 'openapi: 3.1.0'], ...Object.entries(files).slice(1)]);
    const bytes = await tar(files);
    expect(await filesOf(new Blob([new Uint8Array(bytes)]), 'api.tar', 'api.yaml')).toEqual(expected);
    expect(await filesOf(new Blob([new Uint8Array(gzipSync(bytes))]), 'api.tar.gz', 'api.yaml')).toEqual(expected);
  });

  it('are refused where the archive is cut off', async () => {
    const bytes = new Uint8Array(await tar({ 'api.yaml': 'x'.repeat(2000) })).subarray(0, 1024);
    await expect(filesOf(new Blob([bytes]), 'api.tar', 'api.yaml')).rejects.toThrow('the archive is cut off');
  });
});
