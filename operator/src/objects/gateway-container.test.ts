/** The command line of gateway pods. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serveSchema } from '../api/gateway-pods.ts';
import { gatewayProjects } from '../api/resources.ts';
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
  const { trustedProxies, state, ...plain } = serveSchema.properties;
  const every = Object.entries(plain).map(([name, schema]) => [
    name,
    'enum' in schema ? schema.enum[0] : SAMPLES[schema.type],
  ]);
  const line = argumentsOf({
    ...Object.fromEntries(every),
    trustedProxies: ['10.0.0.0/8'],
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

/** Options of `gw serve` that no field of `spec.serve` sets, and what does. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  '--artifact': 'the operator',
  '--listen': 'the operator',
  '--admin-bind': 'the operator',
  '--allow-plaintext-upstream': 'spec.allowPlaintext',
  '--egress-allow': 'spec.egress.allow',
  '--state': 'spec.serve.state.url, by GW_STATE: it holds credentials',
  '--state-prefix': 'the operator: namespace and name',
  '--tls-cert': 'spec.tls.secret',
  '--tls-key': 'spec.tls.secret',
  '--tls-min-version': 'spec.tls.minVersion',
  '--tls-client-ca': 'spec.tls.clientCaSecret',
  '--tls-client-auth': 'spec.tls.clientAuth',
  '--control-plane': 'the link',
  '--project-id': 'the link',
  '--api-key-file': 'the link, by GW_API_KEY_FILE',
  '--control-plane-ca': 'the link, by GW_CONTROL_PLANE_CA',
  '--control-plane-wait': 'the link',
  '--data-plane-name': 'the link, by GW_DATA_PLANE_NAME',
  '--cache-dir': 'the link',
  '--app-port': 'the injector: it is for sidecars',
  '--data-plane-label': 'nothing: the cluster has labels',
  '--api-key': 'nothing: keys come from files',
  '--dev': 'nothing: it is for developing',
};

it('leaves no option of gw serve without a field', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'cli.md'), 'utf8');
  const section = text.slice(text.indexOf('\n## gw serve'), text.indexOf('\n## gw routes'));
  const options = [...section.matchAll(/^\| `(--[a-z0-9-]+)/gm)].map(([, option]) => option ?? '');
  expect(options.length).toBeGreaterThan(40);
  const fields = Object.keys(serveSchema.properties).map(
    (name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
  const known = [...fields, '--state-timeout-ms', ...Object.keys(ELSEWHERE)];
  expect(options.filter((option) => !known.includes(option))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((option) => !options.includes(option))).toEqual([]);
});
