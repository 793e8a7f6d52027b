/** A call of an operation, as passed to its handler. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../access/actor.ts';
import type { BodyOf, Operation, ParamsOf, QueryOf } from '../api/operation.ts';

/** A call with validated inputs. */
export interface Call<O = Operation> {
  readonly actor: Actor;
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
