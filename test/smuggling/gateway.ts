/** `gw serve` before the recorder: every path goes on to it. */
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';

export async function startProxy(upstream: string): Promise<Gateway> {
  const operation = {
    responses: { 200: { description: 'OK' } },
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
  };
  const path = { name: 'path', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } };
  const methods = { get: operation, post: operation };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Proxy', version: '1' },
    paths: { '/': methods, '/{path+}': { parameters: [path], ...methods } },
  };
  const artifact = await compileSpec(document, ['http-upstream']);
  return startGateway(artifact, { args: ['--headers-timeout', '1', '--body-timeout', '1'] });
}
