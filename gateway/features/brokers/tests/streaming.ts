/** Gateways and clients of a suite about streams of events: what it has opened ends with each test. */
import { afterEach } from 'vitest';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { type ReceivingSetup, serveReceiving } from '../../../../test/serve/receiving.ts';
import { EventClient, type EventSourceOptions } from './event-source.ts';

export interface Streaming {
  serve(configs: Readonly<Record<string, object>>, setup?: ReceivingSetup): Promise<Gateway>;
  /** Stops it when the test ends. */
  keep(gw: Gateway): Gateway;
  open(gw: Gateway, path: string, options?: EventSourceOptions): Promise<EventClient>;
}

/** For the suite that calls it. */
export function streaming(plugin: string): Streaming {
  const gateways: Gateway[] = [];
  const clients: EventClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
  });
  const keep = (gw: Gateway) => {
    gateways.push(gw);
    return gw;
  };
  return {
    keep,
    serve: async (configs, setup) => keep(await serveReceiving(plugin, configs, setup)),
    async open(gw, path, options) {
      const client = await EventClient.open(`${gw.url}/${path}`, options);
      clients.push(client);
      return client;
    },
  };
}
