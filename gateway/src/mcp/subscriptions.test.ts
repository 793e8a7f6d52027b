/** Streams of clients that are told when tools change (docs/mcp.md#revisions). */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Subscriptions } from './subscriptions.ts';

function subscriber(owner: string, toolsListChanged = true) {
  const sink = new PassThrough({ highWaterMark: 64 });
  return { owner, id: owner, sink, toolsListChanged, ends: {} };
}

it('tells those who asked', () => {
  const subscriptions = new Subscriptions();
  const all = [subscriber('a'), subscriber('b', false)].map((each) => ({ ...each, sink: new PassThrough() }));
  for (const each of all) subscriptions.add(each);
  subscriptions.toolsChanged();
  const told = all.map(({ sink }) => {
    const chunks = [sink.read(), sink.read()].map((each) => String(each ?? ''));
    return chunks.join('').match(/notifications\/[a-z/_]+/g);
  });
  const acknowledged = 'notifications/subscriptions/acknowledged';
  expect(told).toEqual([[acknowledged, 'notifications/tools/list_changed'], [acknowledged]]);
});

it('keeps nothing for who reads nothing', () => {
  const subscriptions = new Subscriptions();
  const { sink, ...rest } = subscriber('a');
  subscriptions.add({ ...rest, sink });
  for (let i = 0; i < 100; i++) subscriptions.toolsChanged();
  expect(sink.destroyed).toBe(true);
  expect(sink.writableLength + sink.readableLength).toBeLessThan(1024);
});

it('ends the oldest stream of who has most, and not those of others', async () => {
  const subscriptions = new Subscriptions(10);
  const mine = subscriber('me');
  subscriptions.add(mine);
  const flood = Array.from({ length: 100 }, () => subscriber('flood'));
  for (const each of flood) {
    each.sink.resume();
    subscriptions.add(each);
  }
  expect(subscriptions.size).toBe(10);
  expect([mine.sink.writableEnded, flood[0]?.sink.writableEnded, flood[99]?.sink.writableEnded]).toEqual([
    false,
    true,
    false,
  ]);
});
