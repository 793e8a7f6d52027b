/** Server-sent events about changes, until they end, the client leaves, or its credentials are revoked. */
import { Readable } from 'node:stream';
import { ShareTree } from '@gw/gateway/share-tree';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EVENT_STREAM_TYPE } from '../api/media-types.ts';
import { ControlError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    eventStreams: EventStreams;
  }
}

/** Milliseconds between comments that keep the connection and proxies on the way alive. */
const HEARTBEAT_MS = 15_000;
/** Bytes that wait for one client to read them; past it the client is too slow, and is cut off. */
const MAX_WAITING = 1 << 20;
/** Maximum streams of one process, and of one person. Each reads its changes itself. */
const MAX_STREAMS = 2_000;
const MAX_OF_ACTOR = 100;

/** Adds `app.eventStreams`, which end when the server drains. */
export function eventStreams(app: FastifyInstance): void {
  const streams = new EventStreams();
  app.decorate('eventStreams', streams);
  app.addHook('preClose', async () => streams.close());
}

class EventStreams {
  /** Open streams by project and person. */
  readonly #open = new ShareTree<EventStream>();
  #closed = false;

  /**
   * Begins the answer. The handler sends `stream.body` and returns. If there are too many, the oldest stream of the
   * person with most ends. Throws `unavailable` if that is the caller, or if the server shuts down.
   */
  open(request: FastifyRequest, reply: FastifyReply): EventStream {
    const { actor } = request;
    const owner = [actor.projectId ?? 'all projects', actor.name];
    if (this.#open.weightOf(owner) >= MAX_OF_ACTOR) this.#open.oldestOf(owner)?.value.end();
    if (this.#open.weight >= MAX_STREAMS) this.#open.yielding(owner)?.value.end();
    if (this.#closed || this.#open.weight >= MAX_STREAMS) {
      throw new ControlError(
        'unavailable',
        'there are too many open streams, or the server is shutting down: try again later',
      );
    }
    const stream = new EventStream(actor.revoked);
    const entry = this.#open.add(owner, stream);
    stream.signal.addEventListener('abort', () => this.#open.remove(entry), { once: true });
    reply.raw.once('close', () => stream.end());
    reply.type(EVENT_STREAM_TYPE).header('cache-control', 'no-store').header('x-accel-buffering', 'no');
    return stream;
  }

  /** Ends all; clients ask another server. */
  close(): void {
    this.#closed = true;
    for (const stream of [...this.#open]) stream.end();
  }
}

export class EventStream {
  /** Body of the answer. */
  readonly body: Readable;
  readonly #ended = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #revoked: AbortSignal | undefined;
  readonly #end = () => this.end();

  constructor(revoked?: AbortSignal) {
    this.body = new Readable({ read() {} });
    this.body.once('close', this.#end);
    // Sends the head: the client knows that it misses nothing from here on.
    this.body.push(':\n\n');
    this.#heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT_MS).unref();
    this.#revoked = revoked;
    revoked?.addEventListener('abort', this.#end, { once: true });
    if (revoked?.aborted) this.end();
  }

  /** Returns a signal that aborts when the stream has ended, from either side. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Sends one event with JSON as its data; nothing after the end. */
  send(event: string, data: unknown): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    if (this.signal.aborted) return;
    clearInterval(this.#heartbeat);
    this.#revoked?.removeEventListener('abort', this.#end);
    this.#ended.abort();
    this.body.push(null);
  }

  #write(text: string): void {
    if (this.signal.aborted) return;
    this.body.push(text);
    if (this.body.readableLength > MAX_WAITING) this.body.destroy(new Error('the client reads too slowly'));
  }
}

/**
 * Sends each value as an event of this name, then ends the stream, also on a ControlError. Cuts it off on another
 * error.
 */
export async function sendEvents(stream: EventStream, event: string, values: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const value of values) stream.send(event, value);
    stream.end();
  } catch (error) {
    if (error instanceof ControlError) return stream.end();
    stream.body.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}
