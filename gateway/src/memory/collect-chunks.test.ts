/** What is left of chunks that were streamed. */
import { expect, it } from 'vitest';
import { streamed } from './collect-chunks.ts';

const MIB = 1 << 20;

it('is freed while more comes: chunks that nobody holds do not add up', () => {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let i = 0; i < 4096; i++) {
    streamed(new Uint8Array(64 << 10).length);
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  expect(most).toBeLessThan(32 * MIB);
});
