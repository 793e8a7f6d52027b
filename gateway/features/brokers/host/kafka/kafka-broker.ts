/** Brokers of Kafka as targets of publishing; the client library is loaded when the first plugin names some. */

import type { EgressGuard } from '../../../kit.ts';
import { KeptConnection } from '../publishing/kept-connection.ts';
import type { Broker } from '../publishing/publisher.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { failureOf } from './kafka-failures.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import type { KafkaBrokers } from './kafka-settings.ts';

export class KafkaBroker implements Broker<KafkaMessage, KafkaAcknowledgement> {
  readonly name: string;
  readonly #library = import('./kafka-connection.ts');
  readonly #connection: KeptConnection<KafkaConnection>;

  constructor(brokers: KafkaBrokers, guard: EgressGuard) {
    this.name = `kafka://${brokers.brokers.join(',')}`;
    this.#connection = new KeptConnection(async () => {
      const { KafkaConnection } = await this.#library;
      return KafkaConnection.open(brokers, guard);
    });
  }

  async send(message: KafkaMessage, timeoutMs: number): Promise<KafkaAcknowledgement> {
    for (;;) {
      try {
        const connection = await this.#connection.get(timeoutMs);
        return await connection.publish(message);
      } catch (error) {
        const { ConnectionRetired } = await this.#library;
        if (!(error instanceof ConnectionRetired)) throw failureOf(error, this.name);
      }
    }
  }

  close(): void {
    this.#connection.close();
  }
}
