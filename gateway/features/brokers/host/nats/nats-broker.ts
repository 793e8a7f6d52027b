/** Servers of NATS as targets of publishing; the client library is loaded when the first plugin names some. */

import type { EgressGuard } from '../../../kit.ts';
import { KeptConnection } from '../publishing/kept-connection.ts';
import type { Broker } from '../publishing/publisher.ts';
import type { NatsConnection, NatsMessage } from './nats-connection.ts';
import type { NatsServers } from './nats-settings.ts';

/** An acknowledgement only confirms that the message has arrived. */
export type NatsAcknowledgement = { readonly acknowledged: true };
const ACKNOWLEDGED: NatsAcknowledgement = { acknowledged: true };

export class NatsBroker implements Broker<NatsMessage, NatsAcknowledgement> {
  readonly name: string;
  readonly #connection: KeptConnection<NatsConnection>;

  constructor(servers: NatsServers, guard: EgressGuard) {
    this.name = `nats://${servers.servers.join(',')}`;
    const library = import('./nats-connection.ts');
    this.#connection = new KeptConnection(async () => {
      const { NatsConnection } = await library;
      return NatsConnection.open(servers, guard, this.name);
    });
  }

  async send(message: NatsMessage, timeoutMs: number): Promise<NatsAcknowledgement> {
    const connection = await this.#connection.get(timeoutMs);
    await connection.publish(message, timeoutMs);
    return ACKNOWLEDGED;
  }

  close(): void {
    this.#connection.close();
  }
}
