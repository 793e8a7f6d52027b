/** A place in a topic: of each partition, by its number, the offset of the message that is read next. */
export type Position = readonly number[];

/** Some message before `other` is yet to be read. */
export function isBehind(position: Position, other: Position): boolean {
  return other.some((next, partition) => (position[partition] ?? 0) < next);
}

/** Some message from `other` on has been read. */
export function isAhead(position: Position, other: Position): boolean {
  return position.some((next, partition) => next > (other[partition] ?? 0));
}

/** Returns the most messages between them: some offsets may have no message. */
export function distance(position: Position, other: Position): number {
  return other.reduce((sum, next, partition) => sum + Math.max(0, next - (position[partition] ?? 0)), 0);
}
