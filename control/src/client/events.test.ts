import { expect, it } from 'vitest';
import { ControlClient } from './client.ts';

it('the client leaves out events whose data is no JSON, and goes on', async () => {
  const text = 'event: compilation\ndata: {nonsense\n\nevent: compilation\ndata: 1\n\n';
  const client = new ControlClient({ token: undefined, fetch: async () => new Response(text) });
  const events = [];
  for await (const event of await client.events('compilations.events', { params: { id: 'any' } })) events.push(event);
  expect(events).toEqual([{ event: 'compilation', data: 1 }]);
});
