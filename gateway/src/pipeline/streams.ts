/**
 * Passes a streaming body through the chunk hooks of plugins, one chunk at a time (docs/reference/plugins.md#bodies).
 */
import { Transform } from 'node:stream';
import type { Exchange, ResponseSink } from '../exchange.ts';
import type { BoundPlugin } from '../wasm/call/plugin.ts';

/** A middleware whose request hook has run. */
interface Ran {
  readonly plugin: BoundPlugin;
}

type Direction = 'request' | 'response';

/** The request's body through the hooks of its middlewares, as it arrives or as it was read. */
export function transformedBody(exchange: Exchange, middlewares: readonly Ran[]): Transform {
  const plugins = middlewares.map(({ plugin }) => plugin);
  const transform = chunkTransform(exchange, plugins, 'request');
  if (exchange.body === null) exchange.bodyStream?.on('error', (error) => transform.destroy(error)).pipe(transform);
  else transform.end(exchange.body);
  return transform;
}

/**
 * Returns the sink for a response's body on its way to `sink`: through the hooks of plugins, and past the taps in
 * between.
 */
export function responseBody(exchange: Exchange, ran: readonly Ran[], sink: ResponseSink): ResponseSink {
  const plugins = lastFirst(ran);
  if (exchange.parts === null) return throughHooks(exchange, plugins, sink);
  let target = sink;
  let end = plugins.length;
  // A tap sees the stream as at its place in the chain; the last place is inserted first, next to the sink.
  for (const { tap, place } of taps(exchange.parts, plugins)) {
    target = tap(throughHooks(exchange, plugins.slice(place + 1, end), target));
    end = place;
  }
  return throughHooks(exchange, plugins.slice(0, end), target);
}

function taps(parts: NonNullable<Exchange['parts']>, plugins: readonly BoundPlugin[]) {
  return parts
    .flatMap((part) => {
      const tap = part?.tap ?? null;
      return part == null || tap === null || part.owner === null ? [] : [{ tap, place: placeOf(part.owner, plugins) }];
    })
    .sort((one, other) => other.place - one.place);
}

function placeOf(owner: object, plugins: readonly object[]): number {
  return plugins.indexOf(owner);
}

/**
 * Sends a stored body that is the answer through the plugins before it, which see every body that streams; returns
 * false if no plugin does.
 */
export function streamStored(exchange: Exchange, ran: readonly Ran[]): boolean {
  const { parts } = exchange;
  const { body } = exchange.response;
  if (parts === null || body === null || exchange.method === 'HEAD') return false;
  const owner = parts.find((part) => part?.stored === body)?.owner ?? null;
  if (owner === null) return false;
  const plugins = lastFirst(ran);
  const before = plugins.slice(placeOf(owner, plugins) + 1);
  if (!before.some(({ hasResponseChunks }) => hasResponseChunks)) return false;
  throughHooks(
    exchange,
    before,
    exchange.responder.stream(exchange, exchange.response.status, exchange.response.headers),
  ).end(body);
  return true;
}

function lastFirst(ran: readonly Ran[]): BoundPlugin[] {
  return ran.map(({ plugin }) => plugin).reverse();
}

function throughHooks(exchange: Exchange, plugins: readonly BoundPlugin[], sink: ResponseSink): ResponseSink {
  if (!plugins.some(({ hasResponseChunks }) => hasResponseChunks)) return sink;
  const transform = chunkTransform(exchange, plugins, 'response');
  transform.on('error', () => exchange.responder.abort()).pipe(sink);
  return transform;
}

/** In the order given: the chain's for requests, its reverse for responses. */
function chunkTransform(exchange: Exchange, plugins: readonly BoundPlugin[], direction: Direction): Transform {
  const hooked = plugins.filter((each) => (direction === 'request' ? each.hasRequestChunks : each.hasResponseChunks));

  /** Returns the output of the hooks from `from` on for a chunk. */
  async function pass(chunk: Uint8Array, from: number): Promise<Uint8Array> {
    let current = chunk;
    for (const plugin of hooked.slice(from)) {
      const changed = await (direction === 'request'
        ? plugin.requestChunk(exchange, current)
        : plugin.responseChunk(exchange, current));
      current = changed ?? current;
    }
    return current;
  }

  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      pass(chunk, 0).then((result) => done(null, result.length === 0 ? undefined : result), done);
    },
    flush(done) {
      (async () => {
        for (const [i, plugin] of hooked.entries()) {
          const last = await (direction === 'request' ? plugin.requestEnd(exchange) : plugin.responseEnd(exchange));
          if (last && last.length > 0) this.push(await pass(last, i + 1));
        }
      })().then(() => done(), done);
    },
  });
}
