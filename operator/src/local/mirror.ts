/** Runs the control plane inside local mode, and keeps its projects as the folder has them. */
import { ControlClient } from '@gw/control/client';
import { asSecret, type ControlPlane, registerPackage, SYSTEM, serve } from '@gw/control/embed';
import type { Project } from '@gw/gateway/compiler';
import { pino } from 'pino';
import { deploy, latestDeployment, type Publishable, published } from '../control-plane/publish.ts';
import { type Register, sendSources } from '../control-plane/send-sources.ts';
import { sourcesOf } from '../control-plane/sources.ts';

/** Credentials of a project's gateway; created before the control plane exists. */
export interface ProjectAccess {
  readonly projectId: string;
  readonly apiKey: string;
}

export interface MirrorOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly adminToken: string;
  /** Ids and keys of projects that gateways already have. */
  readonly accessOf: (key: string) => ProjectAccess;
  /** Projects that gateways may ask for at once. */
  readonly known: () => readonly string[];
}

/** Inputs and result of a project's compilation. */
export interface CompiledProject extends Publishable {
  readonly inputs: Project;
}

export async function startMirror(options: MirrorOptions) {
  const { accessOf, known, ...settings } = options;
  const made = new Set<string>();
  const about = (key: string) => ({
    name: key.replace(/^default\//, '').replace('/', '.'),
    description: 'From the folder of local mode',
  });

  async function ensureProject(control: ControlPlane, key: string): Promise<string> {
    const { projectId, apiKey } = accessOf(key);
    if (made.has(key)) return projectId;
    await control.projects.create(SYSTEM, about(key), projectId);
    await control.apiKeys.create(SYSTEM, projectId, { name: 'local mode' }, asSecret('dataPlaneKey', apiKey));
    made.add(key);
    return projectId;
  }

  const { control, close } = await serve(
    {
      ...settings,
      databaseUrl: 'pglite://',
      migrate: true,
      allowPlaintext: true,
      allowedOrigins: [],
      adminBind: null,
      // A gateway that asks for a missing project would not ask again for a minute.
      prepare: async (opened) => {
        for (const key of known()) await ensureProject(opened, key);
      },
    },
    pino({ enabled: false }),
  );
  const { host, port } = settings.listen;
  const server = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = new ControlClient({ server, token: settings.adminToken });

  return {
    close,
    /** Specs, plugins and upstreams as they are in the folder, and the artifact, deployed. */
    async mirror(key: string, compiled: CompiledProject): Promise<void> {
      const projectId = await ensureProject(control, key);
      const { inputs } = compiled;
      await sendSources({
        client,
        projectId,
        about: about(key),
        sources: await sourcesOf(inputs),
        plugins: inputs.plugins,
        register: replacing(control),
      });
      const artifactId = await published(client, projectId, compiled);
      const latest = await latestDeployment(client, projectId);
      if (latest?.artifact_id !== artifactId) await deploy(client, projectId, artifactId, crypto.randomUUID());
    },
  };
}

/** A folder's plugin may change under its version; a built-in one is registered already, and does not change. */
const replacing =
  ({ context }: ControlPlane): Register =>
  async ({ name, manifest, wasm, configSchema = null }) => {
    const plugin = { manifest: { ...manifest, name }, wasm, configSchema };
    await registerPackage(context, SYSTEM, plugin, { builtin: false, replace: 'all' });
    return null;
  };
