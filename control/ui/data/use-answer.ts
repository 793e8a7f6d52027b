/** What one operation answers. */
import type { Answer, Input, OperationId } from '../../src/client/operation-types.ts';
import { client } from '../api/client.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

export function useAnswer<Id extends OperationId>(id: Id, input: Input<Id>): Loaded<Answer<Id>> {
  return useLoaded(JSON.stringify([id, input]), (signal) => client.call(id, input, { signal }));
}
