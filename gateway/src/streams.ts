/** Passes a streaming body through the chunk hooks of plugins, one chunk at a time (D15). */
import { Transform } from 'node:stream';
import type { Exchange } from './exchange.ts';
import type { BoundPlugin } from './wasm/plugin.ts';

type Direction = 'request' | 'response';

/** The request's body through the hooks of its middlewares, as it arrives or as it was read. */
export function transformedBody(x: Exchange, middlewares: readonly { readonly plugin: BoundPlugin }[]): Transform {
  const plugins = middlewares.map(({ plugin }) => plugin);
  const transform = chunkTransform(x, plugins, 'request');
  if (x.body === null) x.bodyStream?.on('error', (error) => transform.destroy(error)).pipe(transform);
  else transform.end(x.body);
  return transform;
}

/** In the order given: the chain's for requests, its reverse for responses. */
export function chunkTransform(x: Exchange, plugins: readonly BoundPlugin[], direction: Direction): Transform {
  const hooked = plugins.filter((each) => (direction === 'request' ? each.hasRequestChunks : each.hasResponseChunks));

  /** What comes out of the hooks from `from` on for a chunk that goes in there. */
  async function pass(chunk: Uint8Array, from: number): Promise<Uint8Array> {
    let current = chunk;
    for (const plugin of hooked.slice(from)) {
      const changed = await (direction === 'request'
        ? plugin.requestChunk(x, current)
        : plugin.responseChunk(x, current));
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
          const last = await (direction === 'request' ? plugin.requestEnd(x) : plugin.responseEnd(x));
          if (last && last.length > 0) this.push(await pass(last, i + 1));
        }
      })().then(() => done(), done);
    },
  });
}
