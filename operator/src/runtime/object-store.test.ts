import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube/kube-object.ts';
import { isOlder } from '../kube/resource-version.ts';
import { ObjectStore } from './object-store.ts';

const NS = 'shop';

function object(name: string, version: number, more: Partial<KubeObject['metadata']> = {}): KubeObject {
  const metadata = { name, namespace: NS, uid: `uid-${name}`, resourceVersion: String(version), ...more };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

/** A store that has seen a list of that version. */
function store(version: number, ...objects: readonly KubeObject[]): ObjectStore {
  const seen = new ObjectStore({});
  for (const each of objects) seen.take({ type: 'added', object: each });
  seen.listed(String(version), ({ name }) => objects.some(({ metadata }) => metadata.name === name));
  return seen;
}

const versions = (seen: ObjectStore) =>
  seen.list({ namespace: NS }).map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);

describe('what watches have seen', () => {
  it('is in order, by namespace and label', () => {
    const labels = { app: 'books' };
    const seen = store(10, object('b', 2), object('a', 1, { labels }), object('c', 3, { namespace: 'other', labels }));
    expect(versions(seen)).toEqual(['a@1', 'b@2']);
    expect(seen.list({ labels }).map(({ metadata }) => metadata.name)).toEqual(['c', 'a']);
    expect(seen.list({ hasLabel: 'app', namespace: NS }).map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(seen.size).toBe(3);
  });

  it('has what we wrote at once, and events from before it change nothing', () => {
    const seen = store(10, object('a', 1));
    seen.put(object('a', 20));
    seen.take({ type: 'modified', object: object('a', 15) });
    expect(versions(seen)).toEqual(['a@20']);
    seen.take({ type: 'modified', object: object('a', 21) });
    expect(versions(seen)).toEqual(['a@21']);
  });

  it('does not forget what we made anew because its forerunner went', () => {
    const seen = store(10, object('a', 1));
    seen.put(object('a', 20, { uid: 'another' }));
    seen.take({ type: 'deleted', object: object('a', 19) });
    expect(versions(seen)).toEqual(['a@20']);
  });

  it('does not bring back what we deleted, and takes its namesake', () => {
    const seen = store(10, object('a', 1));
    seen.removed({ namespace: NS, name: 'a' }, 'uid-a');
    seen.take({ type: 'modified', object: object('a', 11) });
    expect(versions(seen)).toEqual([]);
    seen.take({ type: 'added', object: object('a', 13, { uid: 'another' }) });
    seen.take({ type: 'deleted', object: object('a', 12) });
    expect(versions(seen)).toEqual(['a@13']);
  });

  it('a new list ends what nobody reported the end of, and keeps what is newer than it', () => {
    const seen = store(10, object('a', 1));
    seen.put(object('made-and-deleted-meanwhile', 20));
    seen.put(object('made-since', 40));
    seen.listed('30', ({ name }) => name === 'a');
    expect(versions(seen)).toEqual(['a@1', 'made-since@40']);
  });

  it('covers no more than the watch asked for, and nothing before the first list', () => {
    const of = (options: ConstructorParameters<typeof ObjectStore>[0], listed = true) => {
      const seen = new ObjectStore(options);
      if (listed) seen.listed('1', () => false);
      return seen;
    };
    expect(of({}, false).covers({})).toBe(false);
    expect(of({}).covers({ namespace: NS })).toBe(true);
    expect(of({ namespace: NS }).covers({ namespace: NS })).toBe(true);
    expect(of({ namespace: NS }).covers({})).toBe(false);
    expect(of({ namespace: NS }).covers({ namespace: 'other' })).toBe(false);
    expect(of({ hasLabel: 'app' }).covers({ namespace: NS })).toBe(false);
    expect(of({ hasLabel: 'app' }).covers({ labels: { app: 'x' } })).toBe(true);
    expect(of({ hasLabel: 'app' }).covers({ hasLabel: 'app' })).toBe(true);
    expect(of({ labels: { app: 'x' } }).covers({ labels: { app: 'x', tier: 'y' } })).toBe(true);
    expect(of({ labels: { app: 'x' } }).covers({ labels: { app: 'z' } })).toBe(false);
    expect(of({ selector: 'app=x' }).covers({ labels: { app: 'x' } })).toBe(false);
  });
});

describe('versions', () => {
  it.each([
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['18446744073709551615', '18446744073709551616', true],
    ['x', '10', false],
    ['', '10', false],
    [undefined, '10', false],
  ])('%s is older than %s: %s', (a, b, older) => expect(isOlder(a, b)).toBe(older));
});
