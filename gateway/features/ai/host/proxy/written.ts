/** Bytes of an answer on their way to a client, as fast as it takes them. */
import type { Exchange, ResponseSink } from '../../../kit.ts';

/** Resolves when the client takes more, or has left. */
export async function written(sink: ResponseSink, exchange: Exchange, bytes: Uint8Array): Promise<void> {
  if (exchange.closed || sink.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      sink.off('drain', go).off('close', go);
      withdraw();
      resolve();
    };
    let withdraw = () => {};
    sink.on('drain', go).on('close', go);
    withdraw = exchange.onClose(go);
  });
}
