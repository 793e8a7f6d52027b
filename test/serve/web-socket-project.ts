/** Projects with operations of `ws-upstream`, and what their gateways count. */
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

export const responses = { default: { description: 'any' } };

type Config = Readonly<Record<string, unknown>>;

export function operation(config: Config, middlewares: readonly object[] = []) {
  const dispatch = { name: 'ws-upstream', config };
  return { get: { responses, 'x-gw-dispatch': dispatch, 'x-gw-middlewares': middlewares } };
}

const PLUGINS = ['ws-upstream', 'http-upstream', 'mock', 'ip-restriction', 'correlation-id', 'response-transformer'];

export function artifactOf(paths: object): Promise<Uint8Array> {
  return compileSpec({ openapi: '3.1.0', info: { title: 'Sockets', version: '1' }, paths }, PLUGINS);
}

export async function gatewayOf(paths: object, args: readonly string[] = []): Promise<Gateway> {
  return startGateway(await artifactOf(paths), { args });
}

/** A sample of the gateway's metrics, or 0. */
export async function sample(gw: Gateway, name: string): Promise<number> {
  const text = await (await fetch(`${gw.admin}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(name));
  return Number(line?.slice(line.lastIndexOf(' ') + 1) ?? 0);
}
