/** Configs that name an upstream with a policy. */
import { describe, expect, it } from 'vitest';
import { readArtifact } from '../../artifact/read.ts';
import { loadBuiltinPlugin } from '../../plugins/builtin.ts';
import { compile, type Project } from '../index.ts';

async function run(config: object, upstreams: NonNullable<Project['upstreams']>) {
  const document = {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: { '/a': { get: { responses: {}, 'x-gw-dispatch': { name: 'http-upstream', config } } } },
  };
  const result = await compile({
    specs: ['a.json'],
    files: [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: [loadBuiltinPlugin('http-upstream')],
    upstreams,
    flags: { sourceDateEpoch: 0 },
  });
  const { routes } = result.ok ? await readArtifact(result.artifact) : { routes: null };
  return { found: result.diagnostics.map(({ code, message, hint }) => [code, message, hint]), routes, result };
}

describe('an upstream that a config names', () => {
  it('has its policy in the artifact, with defaults', async () => {
    const { found, routes } = await run({ upstream: 'books' }, { books: {}, other: { balance: 'round-robin' } });
    expect(found).toEqual([]);
    expect(routes?.upstreams).toEqual({
      books: { balance: 'least-requests', ejection: { failures: 5, cooldown: 10, panic: 0.3 } },
    });
    expect(routes?.operations[0]?.dispatch.config).toMatchObject({ upstream: 'books' });
  });

  it('is part of the hash by its policy', async () => {
    const hashes = await Promise.all(
      [{}, { balance: 'least-requests' as const }, { balance: 'round-robin' as const }].map(async (books) => {
        const { result } = await run({ upstream: 'books' }, { books });
        return result.ok ? result.artifactHash : null;
      }),
    );
    expect(hashes[0]).not.toBeNull();
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it('admits the header that its policy reads', async () => {
    const admitted = async (balance: { hash: { header: string } | { cookie: string } }) =>
      (await run({ upstream: 'books' }, { books: { balance } })).routes?.operations[0]?.admitted_headers;
    expect(await admitted({ hash: { header: 'x-tenant' } })).toEqual(['x-tenant']);
    expect(await admitted({ hash: { cookie: 'session' } })).toEqual(['cookie']);
  });

  it.each([
    [{ upstream: 'book' }, 'there is no upstream "book" (declared without a URL: books)', 'Did you mean "books"?'],
    [{ upstream: 'api' }, 'upstream "api" has a URL', expect.stringContaining('url: upstream://api')],
    [
      { url: 'upstream://books' },
      expect.stringContaining('"books" has no URL'),
      expect.stringContaining('upstream: books'),
    ],
  ])('does not compile as %j', async (config, message, hint) => {
    const { found } = await run(config, { books: {}, api: { url: 'https://api.example.com' } });
    expect(found).toEqual([['E1033', message, hint]]);
  });

  it('takes the place of the URL', async () => {
    const both = await run({ upstream: 'books', url: 'https://api.example.com' }, { books: {} });
    expect(both.found.map(([, message]) => message)).toEqual([
      'plugin "http-upstream": the config must not have both "url" and "upstream": remove one of them',
    ]);
    const neither = await run({}, { books: {} });
    expect(neither.found.map(([, message]) => message)).toEqual([
      'plugin "http-upstream": the config has no "url", which is required',
    ]);
  });
});
