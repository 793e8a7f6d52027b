/**
 * One operation of the REST API as a value: its input, its answers, its permissions. The server's routes, the OpenAPI
 * document, the client and the commands derive from these values; nothing here depends on a server.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { ProblemName } from '../errors.ts';

/** A body that is not JSON. */
export interface OtherContent {
  readonly description: string;
  /** Media types, such as `application/wasm`; empty for an answer without a body. */
  readonly types: readonly string[];
}

export interface Operation {
  /** Heading in the documentation. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Template with the names of `params`: `/projects/{id}`. */
  readonly path: string;
  readonly params?: TObject;
  readonly query?: TObject;
  /** JSON body; of a PATCH, a merge patch (RFC 7396). */
  readonly body?: TSchema;
  /** Fields of a multipart form, its file as `file`; the handler reads it. */
  readonly form?: TObject;
  /** Answers of success by status, the usual one first: a schema of JSON, or other content. */
  readonly answers: { readonly [status: number]: TSchema | OtherContent };
  /** Data of server-sent events by name: the answer is a stream of them. */
  readonly events?: Readonly<Record<string, TSchema>>;
  /** Besides those that every operation may have. */
  readonly problems?: readonly ProblemName[];
  /** The answer has an ETag, and If-Match (`write`) or If-None-Match (`read`) are honoured. */
  readonly etag?: 'read' | 'write';
  /** The answer is a download (http/send-blob.ts): ETag, If-None-Match, Range and If-Range are honoured. */
  readonly download?: true;
  /**
   * A POST that may be repeated with the same Idempotency-Key: all except those whose answer contains a secret, which
   * refuse the header. The handler of a form calls `idempotently` itself.
   */
  readonly idempotent?: true;
  /** Data-plane keys are accepted, with the rights of a viewer of their project (docs/decisions.md#open-endpoints). */
  readonly dataPlaneKey?: true;
  /** No credentials are required (docs/decisions.md#open-endpoints). */
  readonly open?: true;
}

/** By id, which the library call and the command share: `projects.create`. */
export type OperationTable = Readonly<Record<string, Operation>>;

/** Returns the operations of a resource, with their exact types. */
export const operations = <const T extends OperationTable>(table: T): T => table;

/** Returns further answers of a download besides 200, for the operation's `answers`. */
export const partialAnswer = (types: readonly string[]) => ({
  206: { description: 'The part that was asked for', types },
});

type StaticOf<S> = S extends TSchema ? Static<S> : undefined;

export type ParamsOf<O> = O extends { readonly params: infer S } ? StaticOf<S> : undefined;
export type QueryOf<O> = O extends { readonly query: infer S } ? StaticOf<S> : undefined;
export type BodyOf<O> = O extends { readonly body: infer S } ? StaticOf<S> : undefined;
export type FormOf<O> = O extends { readonly form: infer S } ? StaticOf<S> : undefined;

type JsonOf<A> = A extends OtherContent ? never : StaticOf<A>;
type AnswersOf<O> = O extends { readonly answers: infer A } ? { [S in keyof A]: JsonOf<A[S]> }[keyof A] : never;

/** JSON of a success; undefined if all successes have other content or no body. */
export type AnswerOf<O> = [AnswersOf<O>] extends [never] ? undefined : AnswersOf<O>;

/** Events of the stream by name, with their data. */
export type EventOf<O> = O extends { readonly events: infer E }
  ? { [N in keyof E & string]: { readonly event: N; readonly data: StaticOf<E[N]> } }[keyof E & string]
  : never;
