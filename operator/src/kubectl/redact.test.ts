/** What leaves a cluster in a support bundle. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { redacted } from './redact.ts';

const SECRET = 'plant-7f3a91';

it('hides what users may have written secrets into, and keeps references', () => {
  const project = {
    kind: 'GatewayProject',
    metadata: {
      name: 'shop',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': SECRET, other: 'kept' },
      managedFields: [{ manager: 'kubectl' }],
    },
    spec: {
      plugins: [{ name: 'apikey-auth', config: { keys: [{ id: SECRET, key: 'env://KEY' }], limit: 3 } }],
      secrets: { env: ['shop-env'] },
      serve: { otlpEndpoint: `http://user:${SECRET}@collector:4318` },
    },
  };
  const text = JSON.stringify(redacted(project));
  expect(text).not.toContain(SECRET);
  for (const kept of ['apikey-auth', 'env://KEY', '"limit":3', 'shop-env', 'collector:4318', 'other']) {
    expect(text).toContain(kept);
  }
});

it('hides documents, variables and the contents of ConfigMaps', () => {
  const spec = { spec: { source: { inline: `openapi: 3.1.0 # ${SECRET}` } } };
  const pod = { spec: { containers: [{ name: 'c', env: [{ name: 'TOKEN', value: SECRET }] }] } };
  const map = { data: { key: SECRET }, binaryData: { part: SECRET } };
  const text = JSON.stringify([spec, pod, map].map(redacted));
  expect(text).not.toContain(SECRET);
  for (const kept of ['TOKEN', '"key"', '"part"', 'characters']) expect(text).toContain(kept);
});

it('leaves nothing of config behind, however it is nested', () => {
  const config = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(SECRET),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(config, fc.constantFrom('config', 'defaultConfig'), (value, name) => {
      expect(JSON.stringify(redacted({ spec: { plugins: [{ [name]: value }] } }))).not.toContain(SECRET);
    }),
    propertyRuns(200),
  );
});
