/** Runs the control plane inside local mode, and keeps its projects as the folder has them. */
import { buffer } from 'node:stream/consumers';
import { asSecret, type ControlPlane, registerPackage, SYSTEM, serve } from '@gw/control/embed';
import type { Project, ProjectPlugin } from '@gw/gateway/compiler';
import { pino } from 'pino';
import { pack } from 'tar-stream';
import type { ProjectAccess } from './console.ts';

export interface MirrorOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly adminToken: string;
  /** Ids and keys of projects that gateways already have. */
  readonly accessOf: (key: string) => ProjectAccess;
  /** Projects that gateways may ask for at once. */
  readonly known: () => readonly string[];
}

export async function startMirror(options: MirrorOptions) {
  const { accessOf, known, ...settings } = options;
  const made = new Set<string>();

  async function ensureProject(control: ControlPlane, key: string): Promise<string> {
    const { projectId, apiKey } = accessOf(key);
    if (made.has(key)) return projectId;
    const name = key.replace(/^default\//, '').replace('/', '.');
    await control.projects.create(SYSTEM, { name, description: 'From the folder of local mode' }, projectId);
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
      // A gateway that asks for a project that is not there yet would not ask again for a minute.
      prepare: async (opened) => {
        for (const key of known()) await ensureProject(opened, key);
      },
    },
    pino({ enabled: false }),
  );

  return {
    close,
    /** Specs, plugins and upstreams as they are in the folder, compiled and deployed. */
    async mirror(key: string, inputs: Project): Promise<void> {
      const projectId = await ensureProject(control, key);
      const { project } = await control.projects.get(SYSTEM, projectId);
      const upstreams = Object.fromEntries(
        Object.entries(inputs.upstreams ?? {}).map(([name, { url }]) => [name, url]),
      );
      await control.projects.update(SYSTEM, projectId, { ...pick(project), upstreams });
      await mirrorPlugins(control, projectId, inputs.plugins);
      await mirrorSpecs(control, projectId, inputs);
      const artifact = await compiledArtifact(control, projectId, inputs.flags.production === true);
      const { project: now } = await control.projects.get(SYSTEM, projectId);
      if (artifact === null || artifact === now.deployed_artifact_id) return;
      await control.deployments.deploy(SYSTEM, projectId, { artifact_id: artifact });
    },
  };
}

const pick = ({ name, description }: { readonly name: string; readonly description: string }) => ({
  name,
  description,
});

async function mirrorPlugins(
  control: ControlPlane,
  projectId: string,
  plugins: readonly ProjectPlugin[],
): Promise<void> {
  const { items: before } = await control.projectPlugins.list(SYSTEM, projectId, { limit: 200 });
  for (const { name, manifest, wasm, configSchema, defaultConfig, config } of plugins) {
    if (manifest === undefined) continue;
    // What is built in is there already, and stays as it is.
    await registerPackage(
      control.context,
      SYSTEM,
      { manifest: { ...manifest, name }, wasm, configSchema: configSchema ?? null },
      { builtin: false, replace: 'all' },
    );
    const input = {
      plugin_name: name,
      plugin_version: manifest.version,
      enabled: true,
      config: { ...defaultConfig, ...config },
    };
    if (before.some(({ plugin_name }) => plugin_name === name)) {
      await control.projectPlugins.update(SYSTEM, projectId, name, input);
    } else await control.projectPlugins.add(SYSTEM, projectId, input);
  }
  for (const { plugin_name } of before) {
    if (plugins.every(({ name }) => name !== plugin_name)) {
      await control.projectPlugins.remove(SYSTEM, projectId, plugin_name);
    }
  }
}

async function mirrorSpecs(control: ControlPlane, projectId: string, { specs, files }: Project): Promise<void> {
  const { items: before } = await control.specs.listOfProject(SYSTEM, projectId, { limit: 200 });
  const kept = new Set<string>();
  for (const spec of specs) {
    const [folder = ''] = spec.split('/');
    const own = files.filter(({ name }) => name.startsWith(`${folder}/`));
    const entry = spec.slice(folder.length + 1);
    const [only] = own;
    const file =
      own.length === 1 && only
        ? { filename: entry.split('/').at(-1) ?? entry, file: once(only.bytes) }
        : { filename: `${folder}.tar`, entry, file: archive(own, folder) };
    const { upload } = await control.specs.uploadToProject(SYSTEM, projectId, file);
    kept.add(upload.id);
  }
  for (const { id } of before) if (!kept.has(id)) await control.specs.delete(SYSTEM, id);
}

/** The id of the artifact; null where it does not compile, which the operator has said. */
async function compiledArtifact(control: ControlPlane, projectId: string, production: boolean): Promise<string | null> {
  const { id } = await control.compilations.compileProject(SYSTEM, projectId, { production });
  for await (const compilation of control.compilations.events(SYSTEM, id)) {
    if (compilation.status === 'succeeded') return compilation.artifact_id ?? null;
  }
  return null;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* archive(files: Project['files'], folder: string): AsyncGenerator<Uint8Array> {
  const packing = pack();
  for (const { name, bytes } of files) packing.entry({ name: name.slice(folder.length + 1) }, Buffer.from(bytes));
  packing.finalize();
  yield await buffer(packing);
}
