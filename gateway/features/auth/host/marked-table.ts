import { type Call, HostCallError } from '../../kit.ts';

/**
 * Returns the table that a config has at the JSON pointer in the plugin's memory, for the host function `user`. Throws
 * HostCallError if the property there is not marked `x-gw-credentials`. `kind`: what the table is, for that message.
 */
export function markedTable<Table>(
  { memory }: Call,
  tables: { get(pointer: string): Table | undefined },
  [address, length]: readonly [number, number],
  [user, kind]: readonly [string, string],
): Table {
  const pointer = memory.jsonPointer(address, length);
  const table = tables.get(pointer);
  if (table !== undefined) return table;
  throw new HostCallError(`${user}: "${pointer}" is not a ${kind}: mark it x-gw-credentials`);
}
