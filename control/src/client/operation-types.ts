/** Input and output of each operation of the client: types alone, so that no schema is loaded with it. */
import type { AnswerOf, BodyOf, EventOf, FormOf, ParamsOf, QueryOf } from '../api/operation.ts';
import type { OperationId, Operations } from '../modules/operations.ts';

export type { OperationId };

/** JSON of a success; undefined if it has no body. */
export type Answer<Id extends OperationId> = AnswerOf<Operations[Id]>;

/** An event of an operation that answers with a stream of them. */
export type StreamEvent<Id extends OperationId> = EventOf<Operations[Id]>;

/** Operations that list something a page at a time. */
export type ListId = {
  [Id in OperationId]: QueryOf<Operations[Id]> extends { readonly cursor?: unknown } ? Id : never;
}[OperationId];

export type EventsId = {
  [Id in OperationId]: [StreamEvent<Id>] extends [never] ? never : Id;
}[OperationId];

/** An item of a list operation. */
export type Item<Id extends ListId> = Answer<Id> extends readonly (infer T)[] ? T : never;

/**
 * Input of an operation: `params` of its path, `query`, JSON as `body`, or fields and file as `form`; each only if it
 * has one. Undefined members of `query` and `form` are left out.
 *
 * @example { params: { id }, query: { limit: 20 } }
 */
export type Input<Id extends OperationId> = Member<'params', ParamsOf<Operations[Id]>> &
  Member<'query', OrUndefined<QueryOf<Operations[Id]>>> &
  Member<'body', BodyOf<Operations[Id]>> &
  Member<'form', FormInput<FormOf<Operations[Id]>>>;

/** Absent if the operation has no such input, optional if all its members are. */
type Member<Name extends string, T> = T extends undefined
  ? unknown
  : Record<never, never> extends T
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T };

type OrUndefined<T> = T extends undefined ? undefined : { readonly [K in keyof T]: T[K] | AbsentOf<T, K> };
type AbsentOf<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? undefined : never;

type FormInput<T> = T extends undefined
  ? undefined
  : OrUndefined<Omit<T, 'file'>> & {
      /** The file, sent with its name. */
      readonly file: File;
    };

/** Input of any operation, as the client sends it. */
export interface AnyInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string | File | undefined>>;
}
