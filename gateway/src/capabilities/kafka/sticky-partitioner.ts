/**
 * Which partition a message goes to: by its key as clients of Java choose it; without one the messages of a batch go
 * together, each batch to another partition. Chosen once: a batch that is sent again goes where it went before.
 */
import type { PartitionerArgs } from 'kafkajs';
import { Partitioners } from './kafka-library.ts';

export function stickyPartitioner(): (args: PartitionerArgs) => number {
  const byKey = Partitioners.DefaultPartitioner();
  let turn = Math.floor(Math.random() * 1_000);
  let scheduled = false;
  return (args) => {
    const { message, partitionMetadata } = args;
    if (message.partition !== undefined) return message.partition;
    message.partition = message.key === null ? anyOf(partitionMetadata, turn) : byKey(args);
    if (!scheduled) {
      scheduled = true;
      // The next batch is partitioned in another turn.
      setImmediate(() => {
        scheduled = false;
        turn++;
      });
    }
    return message.partition;
  };
}

/** One that has a leader, where any has. */
function anyOf(partitions: PartitionerArgs['partitionMetadata'], turn: number): number {
  const led = partitions.filter(({ leader }) => leader >= 0);
  const among = led.length > 0 ? led : partitions;
  return among[turn % among.length]?.partitionId ?? 0;
}
