import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const post = (config: { max_bytes?: number; check_content_length?: boolean }, length?: string) =>
  kit.onRequest({
    config: { ...config },
    method: 'POST',
    body: 'x',
    headers: length === undefined ? {} : { 'content-length': length },
  });

describe('request-size-limit', () => {
  it('refuses a Content-Length past the limit, with both sizes', async () => {
    const { answer, problem } = await post({ max_bytes: 100 }, '101');
    expect(answer?.status).toBe(413);
    expect(problem).toEqual({
      type: 'urn:gw:error:payload-too-large',
      title: 'Payload Too Large',
      status: 413,
      detail: 'The request body has 101 bytes; the limit is 100 bytes.',
    });
    expect((await post({ max_bytes: 100 }, '100')).outcome).toBe('continue');
    expect((await post({ max_bytes: 0 }, '1')).answer?.status).toBe(413);
    expect((await post({ max_bytes: 100 }, '99999999999999')).answer?.status).toBe(413);
  });

  it('allows 1 MiB by default', async () => {
    expect((await post({}, '1048576')).outcome).toBe('continue');
    expect((await post({}, '1048577')).answer?.status).toBe(413);
  });

  it('has the gateway limit what arrives, whatever was announced', async () => {
    expect((await post({ max_bytes: 100 })).bodyLimit).toBe(100);
    expect((await post({ max_bytes: 100 }, '50')).bodyLimit).toBe(100);
    expect((await post({})).bodyLimit).toBe(1_048_576);
  });

  it('leaves the header alone where check_content_length is false', async () => {
    const result = await post({ max_bytes: 100, check_content_length: false }, '101');
    expect([result.outcome, result.bodyLimit]).toEqual(['continue', 100]);
  });

  it('passes requests without a body', async () => {
    expect((await kit.onRequest({ config: { max_bytes: 0 } })).outcome).toBe('continue');
  });

  it.each([{ max_bytes: -1 }, { max_bytes: 1.5 }, { max_bytes: '1' }, { check_content_length: 'no' }, { other: 1 }])(
    'refuses the config %j',
    async (bad) => {
      await expect(kit.bind(bad)).rejects.toThrow(/schema/);
    },
  );
});
