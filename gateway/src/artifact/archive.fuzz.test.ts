/** The reader of archives, on archives that are nearly right and on bytes that are none. */
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { mutated } from '../../../test/mutations.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { ArtifactError } from './error.ts';
import { readManifest, readRoutes } from './manifest-shape.ts';
import { readArtifact } from './read.ts';
import { readTar, type TarEntry, writeTar } from './tar.ts';

const LIMIT = 1 << 20;
const tokens = [
  '\0',
  '\x1f\x8b',
  'ustar\x0000',
  '0000644',
  '77777777777',
  '-1',
  'x',
  '5',
  '../',
  '/',
  '{',
  '"',
  'path=a\n',
];

let archive: Buffer;
let tar: Buffer;
beforeAll(async () => {
  const operation = { responses: {}, 'x-gw-dispatch': { name: 'mock' } };
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { get: operation } } };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const plugins = [loadBuiltinPlugin('mock')];
  const result = await compile({ specs: ['a.json'], files, plugins, flags: { sourceDateEpoch: 0 } });
  if (!result.ok) throw new Error('it must compile');
  archive = Buffer.from(result.artifact);
  tar = gunzipSync(archive);
});

/** Sets the checksum of a header, so that what is behind it is reached. */
function withChecksum(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const header = copy.subarray(at, at + 512);
  if (header.length < 512) return copy;
  header.fill(' ', 148, 156);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return copy;
}

function refusedOr(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    expect(error.message).not.toContain('\n');
  }
}

it('reads or refuses any tar; names never lead out, contents are never larger than the archive', async () => {
  const small = await writeTar([
    { name: 'manifest.json', bytes: Buffer.from('{}') },
    { name: `specs/${'ä'.repeat(60)}.json`, bytes: Buffer.alloc(600, 'x') },
  ]);
  const nearly = fc
    .tuple(mutated([small], tokens), fc.nat(small.length / 512))
    .map(([bytes, header]) => withChecksum(bytes, header * 512));
  const any = fc.uint8Array({ maxLength: 1600 }).map((each) => withChecksum(Buffer.from(each), 0));
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: nearly }, { weight: 1, arbitrary: any }), (bytes) => {
      refusedOr(() => {
        const entries = inTime(() => readTar(bytes));
        let size = 0;
        for (const [name, body] of entries) {
          if (name.startsWith('/') || name.split('/').includes('..')) throw new Error(`unsafe name ${name}`);
          size += body.length;
        }
        if (size > bytes.length) throw new Error('more than there is');
      });
    }),
    propertyRuns(7000),
  );
});

it('reads back what it writes', async () => {
  const name = fc.stringMatching(/^[a-zä]{1,40}(\/[a-z.]{0,60}[a-z]){0,3}$/);
  const entry = fc.record<TarEntry>({ name, bytes: fc.uint8Array({ maxLength: 700 }) });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(entry, { maxLength: 4, selector: (each) => each.name }), async (entries) => {
      const read = readTar(await writeTar(entries));
      expect(new Map([...read].map(([key, body]) => [key, [...body]]))).toEqual(
        new Map(entries.map((each) => [each.name, [...each.bytes]])),
      );
    }),
    propertyRuns(300),
  );
});

it('reads or refuses any manifest and routes', () => {
  const entries = readTar(tar);
  const keys = ['null', '[]', '{}', '"x"', '-1', '1e999', 'true', ',', '"__proto__":', '"operations":', '"schemas":'];
  const manifest = mutated([entries.get('manifest.json') ?? Buffer.alloc(0)], keys);
  const routes = mutated([entries.get('routes.json') ?? Buffer.alloc(0)], keys);
  fc.assert(
    fc.property(manifest, routes, (first, second) => {
      refusedOr(() => void inTime(() => readManifest(first)));
      refusedOr(() => void inTime(() => readRoutes(second)));
    }),
    propertyRuns(1000),
  );
});

it('reads or refuses any archive, within the limit on what it unpacks to', async () => {
  const bomb = gzipSync(Buffer.alloc(8 * LIMIT));
  const around = mutated([archive, bomb], tokens);
  const inside = mutated([tar], tokens).map((bytes) => gzipSync(bytes, { level: 1 }));
  const any = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), each]));
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(around, inside, any), async (bytes) => {
      const error: unknown = await readArtifact(bytes, { maxUnpackedBytes: LIMIT }).then(
        () => null,
        (reason) => reason,
      );
      if (error !== null && !(error instanceof ArtifactError)) throw error;
      // Every byte is sealed: what reads is the artifact itself.
      if (error === null) expect(gunzipSync(bytes).equals(tar)).toBe(true);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }),
    propertyRuns(1700),
  );
  expect(most).toBeLessThan(256 << 20);
});
