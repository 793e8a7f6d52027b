/** Pods that have a sidecar, and those that were missed. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { namespaces, pods } from '../api/resources.ts';
import { type KubeObject, keyText, type ObjectKey } from '../kube/kube-object.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import type { EventRecord } from '../runtime/objects.ts';
import { SidecarCensus } from './census.ts';

const shop: ObjectKey = { namespace: 'apis', name: 'shop' };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function rig() {
  const objects = new MemoryObjects();
  const events: (EventRecord & { readonly pod: string })[] = [];
  const news: string[] = [];
  const record = (pod: KubeObject, event: EventRecord) => void events.push({ ...event, pod: pod.metadata.name });
  const census = new SidecarCensus({ objects, events: { record }, namespaces: [], readsNamespaces: true });
  census.onChange((keys) => news.push(...keys.map(keyText)));
  closing.push(() => census.close());
  const pod = (name: string, labels: object, annotations: object = {}, namespace = 'apis') =>
    objects.apply(pods, pods.parse({ metadata: { name, namespace, labels, annotations } }));
  const namespace = (name: string, labels: object, annotations: object = {}) =>
    objects.apply(namespaces, namespaces.parse({ metadata: { name, namespace: '', labels, annotations } }));
  return { objects, events, news, census, pod, namespace };
}

const asks = { 'gw.dev/sidecar': 'true' };
const has = { 'gw.dev/injected': 'apis.shop' };
const named = { 'gw.dev/project': 'apis/shop' };

describe('the census of sidecars', () => {
  it('counts those that have one, in all namespaces, and names those that have none, with an Event once', async () => {
    const { census, pod, events, news } = rig();
    await pod('one', { ...asks, ...has }, named);
    await pod('two', { ...asks, ...has }, named, 'team');
    await pod('missed', asks, { 'gw.dev/project': 'shop' });
    await pod('other', {});
    await census.start();
    expect(census.of(shop)).toEqual({ pods: 2, missing: ['apis/missed'] });
    expect(census.of({ namespace: 'apis', name: 'none' })).toBeUndefined();
    await pod('missed', { ...asks, more: 'x' }, { 'gw.dev/project': 'shop' });
    expect(events.map(({ pod: name, reason, type }) => [name, reason, type])).toEqual([
      ['missed', 'SidecarMissing', 'Warning'],
    ]);
    expect(new Set(news)).toEqual(new Set(['apis/shop']));
  });

  it('forgets a pod that is deleted, and tells the project', async () => {
    const { census, pod, objects, news } = rig();
    await pod('missed', asks, named);
    await census.start();
    news.length = 0;
    await objects.remove(pods, { namespace: 'apis', name: 'missed' });
    expect(census.of(shop)).toBeUndefined();
    expect(news).toEqual(['apis/shop']);
  });

  it('looks at all pods of a namespace that asks for them, but for those that want none or can have none', async () => {
    const { objects, census, pod, namespace } = rig();
    await namespace('team', asks, named);
    await pod('plain', {}, {}, 'team');
    await pod('without', { 'gw.dev/sidecar': 'false' }, {}, 'team');
    await pod('skipped', { 'gw.dev/injected': 'skipped' }, {}, 'team');
    await pod('mine', asks, named, 'team');
    await pod('elsewhere', {}, named, 'apis');
    await census.start();
    await eventually(() => expect(census.of(shop)).toEqual({ pods: 0, missing: ['team/mine', 'team/plain'] }));
    // What a watch by label is told when the label goes.
    await objects.remove(namespaces, { namespace: '', name: 'team' });
    expect(census.of(shop)).toEqual({ pods: 0, missing: ['team/mine'] });
  });

  it('does not believe a label that does not fit the annotation', async () => {
    const { census, pod } = rig();
    await pod('liar', { 'gw.dev/injected': 'apis.other' }, named);
    await census.start();
    expect(census.of(shop)).toBeUndefined();
  });
});
