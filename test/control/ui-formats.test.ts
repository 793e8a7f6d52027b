/** What the console reads by itself: archives. */
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { filesOf } from '../../control/ui/editor/archive.ts';

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
