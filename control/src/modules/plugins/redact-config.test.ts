import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { REDACTED, redactConfig } from './redact-config.ts';

const SCHEMA = {
  type: 'object',
  $defs: { secret: { type: 'string', writeOnly: true } },
  properties: {
    url: { type: 'string' },
    password: { $ref: '#/$defs/secret' },
    pin: { type: 'integer', writeOnly: true },
    tls: { type: 'object', writeOnly: true },
    users: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } } },
    },
    tokens: { type: 'object', additionalProperties: { type: 'string', writeOnly: true } },
  },
};

describe('redacting a config', () => {
  it('replaces what the schema marks writeOnly, of whatever type, and keeps the rest', () => {
    const config = {
      url: 'https://a.example',
      password: 'hunter2',
      pin: 1234,
      tls: { key: 'PEM' },
      users: [{ name: 'ada', key: 'k1' }, { name: 'eve' }],
      tokens: { a: 't1', __proto__: 't2' },
    };
    expect(redactConfig(config, SCHEMA)).toEqual({
      url: 'https://a.example',
      password: REDACTED,
      pin: REDACTED,
      tls: REDACTED,
      users: [{ name: 'ada', key: REDACTED }, { name: 'eve' }],
      tokens: { a: REDACTED },
    });
    expect(config.password).toBe('hunter2');
  });

  it('keeps references to secrets, which give nothing away', () => {
    const config = { password: 'env://PASSWORD', users: [{ name: 'ada', key: 'file:///run/secrets/ada' }] };
    expect(redactConfig(config, SCHEMA)).toEqual(config);
  });

  it('leaves nothing of a config that is secret as a whole, and all of one without a schema', () => {
    expect(redactConfig({ a: 'b' }, { ...SCHEMA, writeOnly: true })).toEqual({});
    expect(redactConfig({ password: 'hunter2' }, null)).toEqual({ password: 'hunter2' });
  });

  it('lets no secret through, wherever it stands', () => {
    const secret = fc.string({ minLength: 1 }).map((text) => `secret ${text}`);
    const config = fc.record(
      {
        url: fc.string(),
        password: secret,
        tls: fc.record({ key: secret }),
        users: fc.array(
          fc.record({ name: fc.string(), key: fc.oneof(secret, fc.record({ nested: secret })) }, { requiredKeys: [] }),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(config, (each) => {
        expect(JSON.stringify({ ...redactConfig(each, SCHEMA), url: '' })).not.toContain('secret ');
      }),
      propertyRuns(200),
    );
  });
});
