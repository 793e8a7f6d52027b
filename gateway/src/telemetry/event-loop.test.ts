import pino from 'pino';
import { expect, it } from 'vitest';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import { EventLoopWatch } from './event-loop.ts';

/** Holds up the event loop. */
function burn(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('names the request and the phase that have held up the event loop longest', async () => {
  let logged: (line: string) => void = () => {};
  const line = new Promise<string>((resolve) => {
    logged = resolve;
  });
  const watch = new EventLoopWatch({ logger: pino({ level: 'warn' }, { write: logged }) });
  const [first, second] = [recordedExchange({ path: '/a' }), recordedExchange({ path: '/b' })];
  await new Promise((resolve) => setImmediate(resolve));
  watch.enters(first, 'body');
  burn(150);
  watch.enters(second, 'parameters');
  burn(300);
  watch.enters(first, 'request');
  expect(JSON.parse(await line)).toMatchObject({ phase: 'parameters', request_id: second.requestId, level: 40 });
  expect(watch.delay.samples('x', {}).at(-1)?.value).toBeGreaterThan(0);
  watch.close();
});
