/** W3C Trace Context, on headers that clients make up. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { SAMPLED, type Traced, takeTraceContext, traceparentOf } from './trace-context.ts';

const taken = (headers: string[]): Traced => {
  const request = { headers, traceId: '', parentSpanId: null, traceFlags: 0 };
  takeTraceContext(request);
  return request;
};
const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const isZero = (id: string) => /^0+$/.test(id);

it('passes on what is valid: ids as they came, of the flags those that are known', () => {
  fc.assert(
    fc.property(hex(32), hex(16), hex(2), (traceId, spanId, flags) => {
      fc.pre(!isZero(traceId) && !isZero(spanId));
      const request = taken(['traceparent', `00-${traceId}-${spanId}-${flags}`, 'tracestate', 'a=1']);
      const known = Number.parseInt(flags, 16) & 3;
      expect(request).toMatchObject({ traceId, parentSpanId: spanId, traceFlags: known });
      expect(request.headers).toContain('tracestate');
      expect(traceparentOf(request, null)).toBe(`00-${traceId}-${spanId}-0${known}`);
      request.traceFlags |= SAMPLED;
      expect(traceparentOf(request, 'b7ad6b7169203331')).toMatch(new RegExp(`^00-${traceId}-b7ad6b7169203331-0[13]$`));
    }),
    propertyRuns(500),
  );
});

it('begins a trace of its own for anything else, and says nothing that is not valid', () => {
  const almost = fc
    .tuple(
      fc.oneof(hex(2), fc.string()),
      fc.oneof(hex(32), hex(31)),
      fc.oneof(hex(16), hex(17)),
      fc.oneof(hex(2), hex(3)),
    )
    .map((parts) => parts.join('-'));
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const request = taken(['tracestate', 'a=1', 'traceparent', text]);
      expect(request.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(isZero(request.traceId)).toBe(false);
      const next = traceparentOf(request, null);
      if (next !== null) {
        expect(next).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
        expect(text.startsWith('ff')).toBe(false);
      }
      expect(request.headers.includes('tracestate')).toBe(next !== null);
    }),
    propertyRuns(2000),
  );
});

it('holds two of them for none', () => {
  const valid = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(taken(['traceparent', valid, 'traceparent', valid]).parentSpanId).toBeNull();
});
