/** A gateway with AsyncAPI operations that receive, for the plugins that stream messages of brokers. */
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

export interface ReceivingSetup {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options that open it to upstreams. Default: those of `startGateway`. */
  readonly egress?: readonly string[];
  /** Schema of all messages. Default: none. */
  readonly payload?: object;
  /** Middlewares of all operations. */
  readonly middlewares?: readonly { readonly name: string; readonly config: object }[];
  /** Security schemes, which all operations require. */
  readonly security?: Readonly<Record<string, object>>;
}

/** The artifact of an operation for each config, at `/<name>`; a name may have parameters (`orders/{id}`). */
export function receivingArtifact(
  plugin: string,
  configs: Readonly<Record<string, object>>,
  { payload, middlewares = [], security = {} }: ReceivingSetup = {},
): Promise<Uint8Array> {
  const order = payload ? { payload } : {};
  const idOf = (name: string) => name.replaceAll(/[^a-z]/g, '');
  const parametersOf = (name: string) =>
    Object.fromEntries([...name.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => [parameter, {}]));
  const requirements = Object.keys(security).map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  const operation = (name: string, config: object) => ({
    action: 'receive',
    channel: { $ref: `#/channels/${idOf(name)}` },
    ...(requirements.length > 0 ? { security: requirements } : {}),
    ...(middlewares.length > 0 ? { 'x-gw-middlewares': middlewares } : {}),
    'x-gw-dispatch': { name: plugin, config },
  });
  const each = <T>(make: (name: string, config: object) => T) =>
    Object.fromEntries(Object.entries(configs).map(([name, config]) => [idOf(name), make(name, config)]));
  return compileSpec(
    {
      asyncapi: '3.0.0',
      info: { title: 'Orders', version: '1' },
      channels: each((name) => ({ address: name, parameters: parametersOf(name), messages: { order } })),
      operations: each(operation),
      components: { securitySchemes: security },
    },
    [plugin, ...middlewares.map(({ name }) => name)],
  );
}

export async function serveReceiving(
  plugin: string,
  configs: Readonly<Record<string, object>>,
  setup: ReceivingSetup = {},
): Promise<Gateway> {
  const { args = [], env = {}, egress } = setup;
  const artifact = await receivingArtifact(plugin, configs, setup);
  return startGateway(artifact, { args, env, ...(egress ? { egress } : {}) });
}
