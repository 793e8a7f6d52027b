/** V8's settings for objects that live as long as a request (docs/decisions.md#requests-stay-young). */
import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 allocate all objects in the young generation. By default it learns which places in the code make objects that
 * live long, and allocates those of them in the old generation at once. A request under load lives long enough to be
 * taken for such an object. Once it is in the old generation, all that it refers to follows, and minor collections take
 * tens of milliseconds instead of one. Call it when a process starts, in each worker, too:
 * processes do not inherit it.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  // It begins with 1 MB, in which requests in flight survive twice, and would grow in steps.
  setFlagsFromString('--semi-space-growth-factor=16');
}
