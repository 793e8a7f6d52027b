/**
 * The admin listener: liveness, readiness and metrics (docs/decisions.md#open-endpoints). It requires no credentials:
 * bind it to a private address.
 */

import { messageOf } from '@gw/gateway/message-of';
import Fastify, { type FastifyInstance } from 'fastify';
import { PROBLEM_TYPE } from './api/media-types.ts';
import type { Database } from './db/database.ts';
import { ControlError, PROBLEMS } from './errors.ts';
import type { Metrics } from './telemetry/metrics.ts';

export interface AdminState {
  readonly database: Pick<Database, 'ping' | 'isFull'>;
  readonly metrics: Metrics;
  /** Reports whether the server is stopping, and should get no new requests. */
  draining(): boolean;
}

/** Milliseconds that the database has to answer. */
const PING_MS = 2_000;

/** Migrations run before it listens, so every answer implies them. */
export function adminServer({ database, metrics, draining }: AdminState): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
  app.setNotFoundHandler((_request, reply) => {
    const { status, title } = PROBLEMS['not-found'];
    const detail = 'the admin listener has /healthz, /readyz and /metrics';
    return reply
      .code(status)
      .type(PROBLEM_TYPE)
      .send(Buffer.from(JSON.stringify({ type: 'urn:gw:error:not-found', title, status, detail })));
  });
  app.get('/healthz', () => ({ status: 'healthy' }));
  app.get('/readyz', async (_request, reply) => {
    if (draining()) return reply.code(503).send({ status: 'draining' });
    const reason = await unreachable(database);
    if (reason !== null) return reply.code(503).send({ status: 'database unavailable', reason });
    // A full disk answers queries, but stores nothing.
    return (await database.isFull()) ? reply.code(503).send({ status: 'disk full' }) : { status: 'ready' };
  });
  app.get('/metrics', async (_request, reply) => {
    const { type, text } = await metrics.render();
    return reply.type(type).send(text);
  });
  return app;
}

/** Returns why the database does not answer; null if it does. */
async function unreachable(database: Pick<Database, 'ping'>): Promise<string | null> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new ControlError('unavailable', `no answer within ${PING_MS} ms`)), PING_MS).unref();
  });
  try {
    await Promise.race([database.ping(), late]);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
