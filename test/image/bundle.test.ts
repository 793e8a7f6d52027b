/** What bundling could lose of `gw`: modules that are loaded only where they are wanted. Needs dist/image as CI builds it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { OTLP, OTLP_GRPC, spansOf, tree } from '../serve/spans.ts';
import { document, PLUGINS } from '../serve/traced-project.ts';

const main = join(import.meta.dirname, '..', '..', 'dist', 'image', 'gw.js');
const missing = ['GW_E2E_IMAGE', 'OTLP_ENDPOINT', 'OTLP_GRPC_ENDPOINT'].filter((name) => !process.env[name]);

describe.skipIf(missing.length > 0)('the bundle', () => {
  it.each([
    ['HTTP', OTLP ?? ''],
    ['gRPC', (OTLP_GRPC ?? '').replace('http:', 'grpc:')],
  ])('exports traces by %s', async (_name, endpoint) => {
    const artifact = await compileSpec(document('http://127.0.0.1:1'), PLUGINS);
    const gw = await startGateway(artifact, { main, args: ['--otlp-endpoint', endpoint] });
    const id = (await fetch(`${gw.url}/mock`)).headers.get('x-trace-id') ?? '';
    expect(await gw.stop()).toBe(0);
    expect(tree(await spansOf(id))).toEqual([['GET /mock', ['dispatch mock']]]);
  });
});
