import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { formatReference, parseReference, parseRepository } from './reference.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;

describe('references of images', () => {
  it.each([
    ['registry.example.org/team/app:1.2', { registry: 'registry.example.org', repository: 'team/app', tag: '1.2' }],
    ['localhost:5000/app', { registry: 'localhost:5000', repository: 'app' }],
    [`127.0.0.1:5000/a/b@${DIGEST}`, { registry: '127.0.0.1:5000', repository: 'a/b', digest: DIGEST }],
    [`ghcr.io/a/b:v1@${DIGEST}`, { registry: 'ghcr.io', repository: 'a/b', tag: 'v1', digest: DIGEST }],
    ['docker.io/nginx', { registry: 'docker.io', repository: 'library/nginx' }],
    ['docker.io/bitnami/redis', { registry: 'docker.io', repository: 'bitnami/redis' }],
  ])('%s is read', (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  it.each([
    ['nginx', 'begin with the host of a registry'],
    ['team/app', 'begin with the host of a registry'],
    ['https://ghcr.io/a', 'begin with the host of a registry'],
    ['ghcr.io/', 'a repository has'],
    ['ghcr.io/A/b', 'a repository has'],
    ['ghcr.io/a/../b', 'a repository has'],
    ['ghcr.io/a//b', 'a repository has'],
    ['ghcr.io/a?b', 'a repository has'],
    ['ghcr.io/a:', 'is not a valid tag'],
    ['ghcr.io:99999/a', 'is not a valid port'],
    ['ghcr.io/a@sha256:abc', 'not followed by a digest'],
    [`ghcr.io/a@${DIGEST}@${DIGEST}`, 'more than one @'],
    [`ghcr.io/${'a'.repeat(300)}`, '255 characters'],
    ['user:pw@ghcr.io/a', 'not followed by a digest'],
  ])('%s is refused, and it is said why', (text, why) => {
    expect(() => parseReference(text)).toThrow(why);
  });

  it('what is read is what was written', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,4})?$/);
    const registry = fc.constantFrom('ghcr.io', 'localhost', 'localhost:5000', '10.0.0.1:80', 'r.example.org:443');
    const repository = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const tag = fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/), { nil: undefined });
    const digest = fc.option(fc.constant(DIGEST), { nil: undefined });
    fc.assert(
      fc.property(fc.record({ registry, repository, tag, digest }), (parts) => {
        const { tag: name, digest: sum, ...rest } = parts;
        const reference = { ...rest, ...(name ? { tag: name } : {}), ...(sum ? { digest: sum } : {}) };
        expect(parseReference(formatReference(reference))).toEqual(reference);
      }),
      propertyRuns(200),
    );
  });

  it('whatever the text, a path of the API is made of what is safe in one', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 60 }),
      fc.stringMatching(/^[a-z.:/@%?#\\ -]{0,40}$/).map((end) => `r.io/${end}`),
    );
    fc.assert(
      fc.property(text, (given) => {
        let repository: string;
        try {
          repository = parseRepository(given).repository;
        } catch {
          return;
        }
        expect(repository).toMatch(/^[a-z0-9._/-]+$/);
        const url = new URL(`https://r.io/v2/${repository}/manifests/x`);
        expect(url.href).toBe(`https://r.io/v2/${repository}/manifests/x`);
      }),
      propertyRuns(300),
    );
  });
});
