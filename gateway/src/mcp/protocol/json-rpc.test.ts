/** Messages of strangers (docs/mcp.md). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { RpcError, readMessage, resultText } from './json-rpc.ts';

function read(text: string | Uint8Array) {
  try {
    return readMessage(typeof text === 'string' ? Buffer.from(text) : text);
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

it('reads any bytes, or says why not', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(read(bytes)).toBeInstanceOf(RpcError);
    }),
    propertyRuns(500),
  );
});

it('reads any JSON, or says why not', () => {
  const value = fc.record(
    { jsonrpc: fc.constantFrom('2.0', '1.0', 2), id: fc.jsonValue(), method: fc.jsonValue(), params: fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(value, fc.jsonValue()), (message) => {
      const found = read(JSON.stringify(message));
      if (found instanceof RpcError) expect([400, 200]).toContain(found.status);
      else if (found.kind === 'request') expect(['string', 'number']).toContain(typeof found.id);
    }),
    propertyRuns(500),
  );
});

it('reads no body of more values than can be read at once', () => {
  const members = Array.from({ length: 60_000 }, (_, i) => `"m${i}":${i}`).join(',');
  const refused = read(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${members}}}`);
  expect(refused).toBeInstanceOf(RpcError);
  expect(refused).toMatchObject({ message: expect.stringContaining('more values') });
});

it('gives a request its own id back, of whatever text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.maxSafeInteger()), (id) => {
      const found = read(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }));
      if (found instanceof RpcError || found.kind !== 'request') throw new Error('no request');
      expect(JSON.parse(resultText(found.id, '{}')).id).toEqual(JSON.parse(JSON.stringify(id)));
    }),
    propertyRuns(300),
  );
});
