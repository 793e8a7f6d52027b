/**
 * What a program makes of the published packages: pack.test.ts compiles and runs it where they are installed, without
 * the types of Node.js, and `npm run check` here. A line under `@ts-expect-error` must not compile.
 */
import { closeCompiler, compileProject } from '@gw/control';
import { ApiError, ControlClient } from '@gw/control/client';
import { ArtifactError, readArtifact } from '@gw/gateway/artifact';
import { type CompileFlags, compile, ERROR_CODES, loadBuiltinPlugin, type Project } from '@gw/gateway/compiler';
import { ApiSpec, Deployment, GatewayProject, PluginRef } from '@gw/operator/models';
import { type HookResult, type KitOptions, MemoryState, type State, testPlugin } from '@gw/plugin-sdk/testing';

const document = {
  openapi: '3.1.0',
  info: { title: 'Hello', version: '1' },
  paths: {
    '/hello': {
      get: {
        operationId: 'hello',
        'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } },
        responses: { 200: { description: 'A greeting' } },
      },
    },
  },
};

const flags: CompileFlags = { sourceDateEpoch: 0 };
const project: Project = {
  specs: ['hello.json'],
  files: [{ name: 'hello.json', bytes: new TextEncoder().encode(JSON.stringify(document)) }],
  plugins: [loadBuiltinPlugin('mock')],
  flags,
};

/** In a thread and in this process: the same artifact. */
export async function compiles(): Promise<string> {
  const [here, there] = [await compile(project), await compileProject(project, { timeoutMs: 60_000 })];
  await closeCompiler();
  if (!here.ok || !there.ok) throw new Error(here.diagnostics.map(({ code }) => ERROR_CODES[code].title).join());
  const { manifest, routes } = await readArtifact(there.artifact, { maxUnpackedBytes: 1_000_000 });
  const broken = await readArtifact(new Uint8Array(9)).catch((error: unknown) => error);
  if (!(broken instanceof ArtifactError)) throw broken;
  return `${routes.operations.length} of ${manifest.routes_count}, ${here.artifactHash === there.artifactHash}`;
}

/** `folder`: of the plugin `mock`. */
export async function tests(folder: string): Promise<HookResult['outcome']> {
  const state: State = new MemoryState({ now: () => 0 });
  const options: KitOptions = { state, limits: { cpuMs: 1000 }, now: () => 0 };
  const kit = await testPlugin(folder, options);
  (await kit.bind({ status: 204 })).close();
  const { outcome } = await kit.dispatch({ config: { status: 204 }, headers: { accept: ['a', 'b'] } });
  // @ts-expect-error: a request has no field of this name
  await kit.dispatch({ header: {} });
  kit.close();
  return outcome;
}

export async function asks(server: string): Promise<unknown> {
  const client = new ControlClient({ server, token: undefined });
  try {
    return (await client.list('projects.list')).map(({ name, created_at }) => `${name} ${created_at}`);
  } catch (error) {
    return error instanceof ApiError ? error.status : error;
  }
}

export const makesNameless = (client: ControlClient): Promise<unknown> =>
  // @ts-expect-error: a project has a name
  client.call('projects.create', { body: {} });

const metadata = { name: 'hello', labels: { app: 'hello' } };
const config = { status: 204 };
export const manifests = [
  new ApiSpec({ metadata, spec: { source: { inline: JSON.stringify(document) } } }),
  new PluginRef({ metadata, spec: { plugin: 'mock', source: { builtin: {} }, defaultConfig: config } }),
  new GatewayProject({
    metadata,
    spec: { specs: { names: ['hello'] }, plugins: [{ name: 'mock', config }], pods: { replicas: 2 } },
  }),
  new Deployment({ metadata, spec: { project: 'hello', artifact: { latest: true } } }),
];

// @ts-expect-error: the field is `source`
new ApiSpec({ metadata, spec: { sources: { inline: '' } } });
// @ts-expect-error: a ConfigMap has a name
new ApiSpec({ metadata, spec: { source: { configMap: {} } } });
// @ts-expect-error: the field is `defaultConfig`
new PluginRef({ metadata, spec: { plugin: 'mock', source: { builtin: {} }, config } });
// @ts-expect-error: the field is `replicas`
new GatewayProject({ metadata, spec: { specs: {}, pods: { replica: 2 } } });
// @ts-expect-error: it is a number
new GatewayProject({ metadata, spec: { specs: {}, pods: { replicas: '2' } } });
// @ts-expect-error: there is no such strategy
new GatewayProject({ metadata, spec: { specs: {}, rollout: { strategy: 'BlueGreen' } } });
// @ts-expect-error: it needs `specs`
new GatewayProject({ metadata, spec: {} });
// @ts-expect-error: it needs `artifact`
new Deployment({ metadata, spec: { project: 'hello' } });
