/** The command line of gateway pods. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serveSchema } from '../api/gateway-pods.ts';
import { gatewayProjects } from '../api/resources.ts';
import type { Schema } from '../api/schema.ts';
import { serveArguments } from './gateway-container.ts';

const SAMPLES: Readonly<Record<string, unknown>> = { integer: 100, number: 1, string: 'http://x', boolean: true };

function argumentsOf(serve: object): readonly string[] {
  const project = gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, serve },
  });
  return serveArguments(project);
}

it('has the times of a project, and leaves out those that it does not set', () => {
  const line = argumentsOf({ keepaliveTimeout: 5, headersTimeout: 6, bodyTimeout: 0, sendTimeout: 8 }).join(' ');
  expect(line).toContain('--keepalive-timeout 5 --headers-timeout 6 --body-timeout 0 --send-timeout 8');
  expect(argumentsOf({}).join(' ')).not.toMatch(/--(keepalive|headers|body|send)-timeout/);
});

it('has no option that gw serve does not know', () => {
  const known = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'cli.md'), 'utf8');
  const { trustedProxies, adminHosts, state, ...plain } = serveSchema.properties;
  const sampleOf = (schema: Schema) =>
    schema.enum?.[0] ?? ((schema.minimum ?? 0) > 100 ? schema.minimum : SAMPLES[schema.type ?? '']);
  const every = Object.entries<Schema>(plain).map(([name, schema]) => [name, sampleOf(schema)]);
  const line = argumentsOf({
    ...Object.fromEntries(every),
    trustedProxies: ['10.0.0.0/8'],
    adminHosts: ['gw.internal'],
    state: { url: { secret: 'redis', key: 'url' }, timeoutMs: 100 },
  });
  const options = line.filter((each) => each.startsWith('--'));
  expect(options.length).toBeGreaterThan(every.length);
  for (const option of options) expect(known).toContain(`\`${option} `);
});

it('keeps the shared state of projects apart by namespace and name', () => {
  const state = { url: { secret: 'redis', key: 'url' } };
  expect(argumentsOf({ state }).join(' ')).toContain('--state-prefix default.shop');
  expect(argumentsOf({}).join(' ')).not.toContain('--state');
});
