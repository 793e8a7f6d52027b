import { describe, expect, it } from 'vitest';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import { addForwarded } from './forwarded-headers.ts';

function forwarded(trusted: boolean): string[] {
  const headers = { 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.66', 'x-forwarded-proto': 'https' };
  const exchange = recordedExchange({ headers, clientIp: '10.0.0.1' });
  // As the chain of a trusted proxy says.
  if (trusted) exchange.clientIp = '192.0.2.1';
  const list: string[] = [];
  addForwarded(list, exchange, trusted);
  return list;
}

describe('X-Real-IP towards an upstream', () => {
  it.each([
    [true, '192.0.2.1'],
    [false, '10.0.0.1'],
  ])('is the address that the gateway has determined; trusted proxy: %s', (trusted, address) => {
    const list = forwarded(trusted);
    expect(list.flatMap((name, i) => (name === 'x-real-ip' ? [list[i + 1]] : []))).toEqual([address]);
  });
});
