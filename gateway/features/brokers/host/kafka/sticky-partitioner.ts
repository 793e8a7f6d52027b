/**
 * Chooses the partition of a message: by its key as Java clients do; messages without a key go together by batch, each
 * batch to another partition. The choice is made once: a batch that is sent again goes to the same partition.
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

/** Returns a partition that has a leader, if possible. */
function anyOf(partitions: PartitionerArgs['partitionMetadata'], turn: number): number {
  const led = partitions.filter(({ leader }) => leader >= 0);
  const among = led.length > 0 ? led : partitions;
  return among[turn % among.length]?.partitionId ?? 0;
}
