/** A gateway with AsyncAPI operations that send, for the plugins that publish to brokers. */
import { load } from 'js-yaml';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

export interface SendingSetup {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options that open it to upstreams. Default: those of `startGateway`. */
  readonly egress?: readonly string[];
  /** Schema of all messages. Default: none. */
  readonly payload?: object;
  /** Default: JSON. */
  readonly contentType?: string;
  /** Middlewares of all operations. */
  readonly middlewares?: readonly { readonly name: string; readonly config: object }[];
  /** Security schemes, which all operations require. */
  readonly security?: Readonly<Record<string, object>>;
}

/** The artifact of an operation for each config, at `/<name>`; a name may have parameters (`orders/{id}`). */
function sendingArtifact(
  plugin: string,
  configs: Readonly<Record<string, object>>,
  { payload, contentType, middlewares = [], security = {} }: SendingSetup = {},
): Promise<Uint8Array> {
  const message = { ...(payload ? { payload } : {}), ...(contentType ? { contentType } : {}) };
  const idOf = (name: string) => name.replaceAll(/[^a-z]/g, '');
  const parametersOf = (name: string) =>
    Object.fromEntries([...name.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => [parameter, {}]));
  const requirements = Object.keys(security).map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  const channels = Object.keys(configs).map((name) => [
    idOf(name),
    { address: name, parameters: parametersOf(name), messages: { order: message } },
  ]);
  const operations = Object.entries(configs).map(([name, config]) => [
    `send-${idOf(name)}`,
    {
      action: 'send',
      channel: { $ref: `#/channels/${idOf(name)}` },
      ...(requirements.length > 0 ? { security: requirements } : {}),
      ...(middlewares.length > 0 ? { 'x-gw-middlewares': middlewares } : {}),
      'x-gw-dispatch': { name: plugin, config },
    },
  ]);
  return compileSpec(
    {
      asyncapi: '3.0.0',
      info: { title: 'Orders', version: '1' },
      channels: Object.fromEntries(channels),
      operations: Object.fromEntries(operations),
      components: { securitySchemes: security },
    },
    [plugin, ...middlewares.map(({ name }) => name)],
  );
}

export async function serveSending(
  plugin: string,
  configs: Readonly<Record<string, object>>,
  setup: SendingSetup = {},
): Promise<Gateway> {
  const { args = [], env = {}, egress } = setup;
  const artifact = await sendingArtifact(plugin, configs, setup);
  return startGateway(artifact, { args, env, ...(egress ? { egress } : {}) });
}

export function post(
  gw: Gateway,
  name: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const all = { 'content-type': 'application/json', ...headers };
  return fetch(`${gw.url}/${name}`, { method: 'POST', body, headers: all });
}

/** Failures after which the circuit breaker of a broker opens. */
const FAILURES = 5;

/**
 * Of many messages (`0`, `1`, …) to a broker that does not answer, at least as many time out as open the circuit; the rest
 * finds it open. Those that timed out.
 */
export async function expectTimeoutsThenOpenCircuit(gw: Gateway, name: string): Promise<readonly string[]> {
  const bodies = Array.from({ length: 50 }, (_, i) => `${i}`);
  const statuses = await Promise.all(bodies.map(async (body) => (await post(gw, name, body)).status));
  expect(statuses.filter((status) => status !== 504 && status !== 503)).toEqual([]);
  expect(statuses.filter((status) => status === 504).length).toBeGreaterThanOrEqual(FAILURES);
  // One in a while is tried, and times out.
  await eventually(async () => expect((await post(gw, name, '"tried"')).status).toBe(503));
  return bodies.filter((_, i) => statuses[i] === 504);
}

/** A gateway with a document in YAML, and one plugin. */
export async function serveDocument(yaml: string, plugin: string): Promise<Gateway> {
  const document = load(yaml);
  if (typeof document !== 'object' || document === null) throw new Error('the document is no object');
  return startGateway(await compileSpec(document, [plugin]));
}
