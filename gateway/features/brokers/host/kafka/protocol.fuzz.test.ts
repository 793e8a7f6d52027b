/** Answers of brokers that lie about lengths: whatever comes, reading ends soon, with an answer or an error. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import {
  API_VERSIONS,
  FETCH,
  FETCH_ZSTD,
  INIT_PRODUCER_ID,
  LIST_OFFSETS,
  METADATA,
  PRODUCE,
  SASL_AUTHENTICATE,
  SASL_HANDSHAKE,
} from './protocol.ts';
import { AnswerReader } from './wire.ts';

const APIS = { API_VERSIONS, FETCH, FETCH_ZSTD, INIT_PRODUCER_ID, LIST_OFFSETS, METADATA, PRODUCE };

/** Numbers as lengths and errors have them, or none at all. */
const piece = fc.oneof(
  fc.constantFrom('00000000', '00000001', '7fffffff', 'ffffffff', 'fffe', '0000', '0001', '00', 'fffffffe'),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('hex')),
);

it.each(Object.entries({ ...APIS, SASL_AUTHENTICATE, SASL_HANDSHAKE }))('reads %s of any bytes', (_, api) => {
  const answers = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''), 'hex'));
  const property = fc.property(answers, (bytes) => {
    const since = performance.now();
    try {
      api.read(new AnswerReader(bytes));
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
    expect(performance.now() - since).toBeLessThan(1_000);
  });
  fc.assert(property, propertyRuns(300));
});
