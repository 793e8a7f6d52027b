/** Brokers of Kafka as targets of publishing. */

import type { EgressGuard } from '../../../kit.ts';
import { KeptConnection } from '../publishing/kept-connection.ts';
import type { Broker } from '../publishing/publisher.ts';
import { failureOf } from './kafka-failures.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import { ConnectionRetired, KafkaProducer } from './kafka-producer.ts';
import type { KafkaBrokers } from './kafka-settings.ts';

export class KafkaBroker implements Broker<KafkaMessage, KafkaAcknowledgement> {
  readonly name: string;
  readonly #connection: KeptConnection<KafkaProducer>;

  constructor(brokers: KafkaBrokers, guard: EgressGuard) {
    this.name = `kafka://${brokers.brokers.join(',')}`;
    this.#connection = new KeptConnection(() => KafkaProducer.open(brokers, guard));
  }

  async send(message: KafkaMessage, timeoutMs: number): Promise<KafkaAcknowledgement> {
    for (;;) {
      try {
        const connection = await this.#connection.get(timeoutMs);
        return await connection.publish(message);
      } catch (error) {
        if (!(error instanceof ConnectionRetired)) throw failureOf(error, this.name);
      }
    }
  }

  close(): void {
    this.#connection.close();
  }
}
