/** `gw-operator local DIR`: the controllers on the manifests of a folder, with processes for pods. */
import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Operation, readArtifact } from '@gw/gateway/artifact';
import { messageOf } from '@gw/gateway/message-of';
import { type GatewayProject, gatewayProjects, type Pod } from '../api/resources.ts';
import { GROUP } from '../api/schema.ts';
import type { StatusDiagnostic } from '../api/shared.ts';
import { controllers } from '../controllers/controllers.ts';
import { type ProvenanceProbe, readAdmin, readProvenance } from '../controllers/gateway-project/pods/pod-state.ts';
import { Measurements } from '../controllers/gateway-project/rollout/measurements.ts';
import { MAX_METRICS } from '../controllers/gateway-project/rollout/observe.ts';
import { Compilations } from '../controllers/gateway-project/sources/compilation.ts';
import { catalog } from '../controllers/plugin-ref/catalog.ts';
import { ForeignUses } from '../controllers/plugin-ref/grants.ts';
import { Runner } from '../controllers/runner.ts';
import { GW_ENTRY } from '../objects/gateway-container.ts';
import { ADMIN_PORT, LABEL_PROJECT } from '../objects/names.ts';
import { DEFAULT_POD_POLICY, isPodField, POD_FIELDS, type PodPolicy } from '../objects/pod-policy.ts';
import { RegistryClient } from '../registry/client.ts';
import type { NamespaceView } from '../runtime/namespace-view.ts';
import type { Watch } from '../runtime/objects.ts';
import { type EgressSettings, openFetcher } from '../sources/open-fetcher.ts';
import { Console } from './console.ts';
import { Folder } from './folder.ts';
import { Kubelet } from './kubelet.ts';
import { placedInManifests } from './manifest-places.ts';
import { MemoryObjects } from './memory-objects.ts';
import type { Report } from './report.ts';
import { Services } from './services.ts';

export interface LocalOptions {
  readonly dir: string;
  /** Address of the first gateway. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Address of the control plane and its console; null: without them. */
  readonly console: { readonly host: string; readonly port: number } | null;
  /** The `gw` program: gateway/src/main.ts, or the bundled gw.js. */
  readonly gwEntry: string;
  /** Allows all commands of manifests, beside the gateway's program. */
  readonly allowCommands: boolean;
  /** Gateways run in development mode. */
  readonly dev: boolean;
  /** Variables that every pod gets, such as PATH. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Registries and URLs that manifests name. */
  readonly egress: EgressSettings;
}

export interface RunningLocal {
  readonly objects: MemoryObjects;
  close(): Promise<void>;
}

/** Annotation with a command for users to try; `{address}` stands for the gateway's. */
const ANNOTATION_TRY = `${GROUP}/try`;
/** Connections are handed to new pods at once; this is for requests on connections that are kept alive. */
const DRAIN_SECONDS = 1;

/** Namespaces are names in manifests: all exist, with the one label that a cluster gives each. */
const LOCAL_NAMESPACES: NamespaceView = {
  includes: () => true,
  labels: async (namespace) => ({ 'kubernetes.io/metadata.name': namespace }),
};

/** Milliseconds after which the console starts, even without a ready gateway. */
const CONSOLE_WAITS_MS = 5_000;

/** Throws an error of one line, with instructions, when the folder or the port cannot be used. */
export async function startLocal(
  { dir, listen, console: consoleAddress, gwEntry, inherited, egress, allowCommands, dev }: LocalOptions,
  report: Report,
): Promise<RunningLocal> {
  const found = await stat(dir).catch(() => undefined);
  if (!found?.isDirectory())
    throw new Error(`"${dir}" is not a folder: name one with manifests, such as examples/bookstore`);
  await mustBeFree(listen);
  const root = await realpath(await mkdtemp(join(tmpdir(), 'gw-local-')));
  const hostsFile = join(root, 'hosts.json');
  await writeFile(hostsFile, '{}', { mode: 0o600 });

  const objects = new MemoryObjects();
  const controlConsole = consoleAddress ? await Console.start({ listen: consoleAddress }, report) : null;
  const folder = new Folder(dir, objects, report);
  const kubelet = new Kubelet({
    objects,
    root,
    hostsFile,
    inherited: { ...inherited, GW_INSPECTOR: 'true', ...(dev ? { GW_DEV: 'true' } : {}) },
    imageFiles: new Map([[GW_ENTRY, gwEntry]]),
    allowCommands,
    ...(controlConsole ? { variablesOf: (workload, pod) => controlConsole.variables(workload, pod) } : {}),
    onLine: (pod, line) => report.podLine(pod, line),
    onFailure: (pod, reason) => report.problem(`pod ${pod}`, reason),
  });
  const addresses = new Map<string, string>();
  const inspectors = new Map<string, string>();
  /** Projects that have tools for agents. */
  const withTools = new Set<string>();
  /** Operations of a project's newest artifact. */
  const routes = new Map<string, readonly Operation[]>();
  const services = new Services({
    objects,
    kubelet,
    listen,
    hostsFile,
    onListening(service, address) {
      const project = service.metadata.labels?.[LABEL_PROJECT];
      if (project !== undefined) addresses.set(`${service.metadata.namespace}/${project}`, address);
      else report.note(`Service ${service.metadata.name}: ${address}`);
    },
    onAdmin({ metadata: { namespace, labels } }, address) {
      inspectors.set(`${namespace}/${labels?.[LABEL_PROJECT]}`, `http://${address}/inspector`);
    },
    onFailure: (service, reason) => report.problem(`Service ${service}`, reason),
  });
  const registries = new RegistryClient(egress);
  const fetcher = openFetcher({ egress, objects, registries });
  const runner = new Runner({
    objects,
    namespaces: [],
    controllers: controllers({
      objects,
      catalog,
      events: report,
      sources: fetcher.sources,
      foreignUses: new ForeignUses(),
      namespaces: LOCAL_NAMESPACES,
      compilations: new Compilations({
        onCompiled: (seconds, ok) =>
          report.note(`${ok ? 'compiled' : 'did not compile'} in ${Math.round(seconds * 1000)} ms`),
        onInputs(key, inputs, { artifactHash, archive }) {
          void readArtifact(archive).then(({ tools, routes: { operations } }) => {
            routes.set(key, operations);
            if (tools === null) withTools.delete(key);
            else withTools.add(key);
          });
          controlConsole?.compiled(key, {
            inputs,
            artifactHash,
            production: inputs.flags.production === true,
            archive: async () => archive,
          });
        },
      }),
      probe: probeLocal,
      readMetrics: (pod, host) => readAdmin(host, adminPort(pod), '/metrics', MAX_METRICS),
      measurements: new Measurements(),
      settings: {
        image: 'local',
        policy: localPolicy(allowCommands),
        operatorNamespace: 'default',
        drainDelay: DRAIN_SECONDS,
        autoscales: false,
      },
      watchSecrets: true,
    }),
    events: {
      onReconciled: () => undefined,
      onError: (controller, key, error) => report.problem(`${controller} ${key}`, messageOf(error)),
    },
  });
  const inspectorOf = (key: string) => (withTools.has(key) ? inspectors.get(key) : undefined);
  const told = watchProjects(objects, report, { dir, files: () => folder.files, addresses, inspectorOf, routes }, () =>
    controlConsole?.begin(),
  );
  const patience = setTimeout(() => controlConsole?.begin(), CONSOLE_WAITS_MS);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      await folder.close();
      clearTimeout(patience);
      await told.close();
      await runner.close();
      await fetcher.close();
      await registries.close();
      await services.close();
      await kubelet.close();
      await controlConsole?.close();
      await rm(root, { recursive: true, force: true });
    })();
    return closing;
  };
  try {
    await folder.load();
    report.note(`${folder.size} objects in ${dir}`);
    await runner.start();
  } catch (error) {
    await close();
    throw error;
  }
  return { objects, close };
}

/** Returns the limits of pods: any image, since images are not pulled, and the other limits of all manifests. */
function localPolicy(allowCommands: boolean): PodPolicy {
  const fields = allowCommands ? new Set(Object.keys(POD_FIELDS).filter(isPodField)) : DEFAULT_POD_POLICY.fields;
  return { ...DEFAULT_POD_POLICY, images: ['*'], fields };
}

/** Every pod of local mode has the one address, and a port of its own. */
const probeLocal: ProvenanceProbe = (pod, host) => readProvenance(host, adminPort(pod));

function adminPort(pod: Pod): number {
  const ports = pod.spec?.containers?.flatMap((container) => container.ports ?? []) ?? [];
  return ports.find(({ name }) => name === 'admin')?.containerPort ?? ADMIN_PORT;
}

interface Places {
  /** Folder of the manifests. */
  readonly dir: string;
  /** Names of the manifests. */
  readonly files: () => readonly string[];
  readonly routes: ReadonlyMap<string, readonly Operation[]>;
  /** Addresses of gateways, by project. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Returns undefined if the project has no tools. */
  readonly inspectorOf: (project: string) => string | undefined;
}

/** Reports diagnostics when they change, and the address of a gateway when it is ready. */
function watchProjects(
  objects: MemoryObjects,
  report: Report,
  { dir, files, addresses, inspectorOf, routes }: Places,
  onReady: () => void,
): Watch {
  const diagnostics = new Map<string, string>();
  const shown = new Map<string, string>();
  return objects.watch(gatewayProjects, {}, ({ type, object }) => {
    const project: GatewayProject = gatewayProjects.parse(object);
    const key = `${project.metadata.namespace}/${project.metadata.name}`;
    if (type === 'deleted') {
      diagnostics.delete(key);
      shown.delete(key);
      report.note(`GatewayProject ${project.metadata.name} is deleted`);
      return;
    }
    const found: readonly StatusDiagnostic[] = project.status?.diagnostics ?? [];
    const text = JSON.stringify(found);
    if (text !== (diagnostics.get(key) ?? '[]'))
      report.diagnostics(found, placedInManifests(dir, files(), project, found));
    diagnostics.set(key, text);
    const programmed =
      project.status?.conditions?.find((condition) => condition.type === 'Programmed')?.status === 'True';
    const address = addresses.get(key);
    const { artifactHash, revision } = project.status ?? {};
    if (!programmed || !address || artifactHash === undefined || shown.get(key) === artifactHash) return;
    const first = !shown.has(key);
    shown.set(key, artifactHash);
    report.success(`${project.metadata.name} serves revision ${revision}, ${artifactHash}`);
    onReady();
    if (first) {
      for (const note of leftOut(project)) report.note(`GatewayProject ${project.metadata.name}: ${note}`);
      report.plain(`\n  ${project.metadata.name}: ${project.spec.tls ? 'https' : 'http'}://${address}\n`);
      for (const line of routeLines(routes.get(key) ?? [])) report.plain(`    ${line}`);
      report.plain('\n  try:');
      const lines = project.metadata.annotations?.[ANNOTATION_TRY] ?? 'curl -i http://{address}/__gw/health';
      for (const line of lines.trim().split('\n')) report.plain(`    ${line.replaceAll('{address}', address)}`);
      const inspector = inspectorOf(key);
      if (inspector !== undefined) report.plain(`\n  tools for agents: ${inspector}`);
      report.plain(`  edit a file in ${dir}: it is compiled and served at once`);
      report.plain('');
    }
  });
}

/** Most routes that are shown. */
const MOST_ROUTES = 20;

/** Routes with their dispatchers, and how many more there are. */
function routeLines(operations: readonly Operation[]): readonly string[] {
  const shown = operations.slice(0, MOST_ROUTES);
  const width = Math.max(...shown.map(({ path }) => path.length));
  const more = operations.length - shown.length;
  return [
    ...shown.map(({ method, path, dispatch }) => `${method.padEnd(7)} ${path.padEnd(width)}  ${dispatch.name}`),
    ...(more > 0 ? [`and ${more} more, which the console lists`] : []),
  ];
}

/** Lists the settings of a project that local mode ignores. */
function leftOut({ spec }: GatewayProject): readonly string[] {
  const { exposure, monitoring, pods, storage } = spec;
  return [
    ...(exposure.ingress || exposure.httpRoute ? ['spec.exposure is not used here: the address below is'] : []),
    ...(monitoring.podMonitor ? ["spec.monitoring.podMonitor is not used here: scrape the pods' admin ports"] : []),
    ...(storage.type === 'OCI' ? ['spec.storage.oci is not used here: artifacts stay in memory'] : []),
    ...(pods.autoscaling ? [`local mode does not scale: ${pods.autoscaling.minReplicas} pod(s) run, the minimum`] : []),
  ];
}

/** Checks the port before anything starts, so that an occupied one fails at once. */
function mustBeFree({ host, port }: LocalOptions['listen']): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      const inUse = 'code' in error && error.code === 'EADDRINUSE';
      reject(
        new Error(
          inUse
            ? `${host}:${port} is in use: stop what listens there, or choose another with --listen`
            : `cannot listen on ${host}:${port}: ${error.message}`,
        ),
      );
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
