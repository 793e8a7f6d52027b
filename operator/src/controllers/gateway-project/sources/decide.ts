/**
 * Puts a GatewayProject's ApiSpecs and plugins together into the one input of the compiler
 * (docs/decisions.md#one-project). Pure.
 */
import type { Project, ProjectFile, ProjectPlugin } from '@gw/gateway/compiler';
import type { Read, Refusal } from '../../../api/refusal.ts';
import type { ApiSpec, GatewayProject, PluginRef } from '../../../api/resources.ts';
import type { Document } from '../../api-spec/document.ts';
import type { LoadedPlugin } from '../../plugin-ref/plugin-package.ts';

export interface SpecSource {
  readonly apiSpec: ApiSpec;
  readonly read: Read<{ readonly document: Document }>;
}

export interface PluginSource {
  readonly ref: PluginRef;
  readonly read: Read<LoadedPlugin>;
}

/** All sources of a project, as found. */
export interface Sources {
  readonly specs: readonly SpecSource[];
  readonly plugins: readonly PluginSource[];
  /** The built-in plugins that the project lists, by name. */
  readonly builtins: ReadonlyMap<string, ProjectPlugin>;
  /** PEM of the signing key, if the project names one. */
  readonly signingKey?: Read<{ readonly pem: string }>;
  /** Secrets that it may not use. */
  readonly refused?: readonly Refusal[];
}

export type Gathered =
  | { readonly ok: true; readonly inputs: Project }
  | { readonly ok: false; readonly problems: readonly Refusal[] };

/** Returns a folder for each ApiSpec: equal file names do not collide, and diagnostics map back to their ApiSpec. */
export function folderOf(apiSpec: ApiSpec): string {
  return `${apiSpec.metadata.name}/`;
}

export function gather(project: GatewayProject, sources: Sources): Gathered {
  const problems: Refusal[] = [];
  const files: ProjectFile[] = [];
  const specs: string[] = [];
  for (const name of project.spec.specs.names ?? []) {
    if (!sources.specs.some(({ apiSpec }) => apiSpec.metadata.name === name)) {
      problems.push({ reason: 'SpecNotFound', message: `ApiSpec "${name}" does not exist` });
    }
  }
  for (const { apiSpec, read } of sources.specs) {
    if (!read.ok) {
      const reason = read.reason === 'Fetching' ? read.reason : 'SpecNotAccepted';
      problems.push({ reason, message: `ApiSpec "${apiSpec.metadata.name}": ${read.message}` });
      continue;
    }
    const folder = folderOf(apiSpec);
    specs.push(folder + read.document.file);
    files.push(...read.document.files.map(({ name, bytes }) => ({ name: folder + name, bytes })));
  }
  if (sources.specs.length === 0 && problems.length === 0) {
    problems.push({
      reason: 'NoSpecs',
      message: 'no ApiSpec is named by spec.specs.names or selected by spec.specs.selector',
    });
  }
  const plugins = gatherPlugins(project, sources, problems);
  if (sources.signingKey && !sources.signingKey.ok) problems.push(sources.signingKey);
  problems.push(...(sources.refused ?? []));
  if (problems.length > 0) return { ok: false, problems };
  const { upstreams, mcp, allowPlaintext } = project.spec;
  const inputs: Project = {
    specs,
    files,
    plugins,
    ...(upstreams ? { upstreams } : {}),
    ...(mcp ? { mcp } : {}),
    manifest: { name: `GatewayProject ${project.metadata.name}` },
    flags: {
      // docs/decisions.md#production-builds: the operator builds for production unless plaintext is admitted.
      ...(allowPlaintext ? { allowPlaintext: true } : { production: true }),
      ...(sources.signingKey?.ok ? { signingKey: sources.signingKey.pem } : {}),
    },
  };
  return { ok: true, inputs };
}

function gatherPlugins(project: GatewayProject, sources: Sources, problems: Refusal[]): readonly ProjectPlugin[] {
  const plugins = new Map<string, ProjectPlugin>();
  const own = project.metadata.namespace;
  const listed = project.spec.plugins ?? [];
  for (const plugin of listed) {
    const found = pluginOf(plugin, own, sources, problems);
    if (found)
      plugins.set(plugin.name, { ...found, name: plugin.name, ...(plugin.config ? { config: plugin.config } : {}) });
  }
  for (const source of sources.plugins) {
    const name = nameOf(source);
    // Listed ones have been taken, or refused, above.
    if (listed.some((plugin) => plugin.name === name || isOf(plugin, own, source))) continue;
    if (plugins.has(name))
      problems.push({
        reason: 'InvalidSpec',
        message: `plugin "${name}" is provided by several PluginRefs: list it in spec.plugins with its pluginRef`,
      });
    else if (!source.read.ok) problems.push(notAccepted(source, source.read, own));
    else plugins.set(name, source.read.plugin);
  }
  return [...plugins.values()];
}

type ListedPlugin = NonNullable<GatewayProject['spec']['plugins']>[number];

/** Returns the listed plugin, undefined if there is a problem with it. */
function pluginOf(
  listed: ListedPlugin,
  own: string | undefined,
  sources: Sources,
  problems: Refusal[],
): ProjectPlugin | undefined {
  const { name, version } = listed;
  const isNamed = listed.pluginRef !== undefined || listed.namespace !== undefined;
  const candidates = sources.plugins.filter((source) =>
    isNamed ? isOf(listed, own, source) : nameOf(source) === name && source.ref.metadata.namespace === own,
  );
  const [source] = candidates;
  if (candidates.length > 1) {
    const names = candidates.map(({ ref }) => ref.metadata.name).join(', ');
    const message = `plugin "${name}" is provided by several PluginRefs (${names}): name one in spec.plugins`;
    problems.push({ reason: 'InvalidSpec', message });
    return undefined;
  }
  if (source && !source.read.ok) {
    problems.push(notAccepted(source, source.read, own));
    return undefined;
  }
  const found = source?.read.ok ? source.read.plugin : isNamed ? undefined : sources.builtins.get(name);
  if (!found) {
    problems.push({ reason: 'PluginNotFound', message: missing(listed, own) });
    return undefined;
  }
  if (version !== undefined && found.manifest?.version !== version) {
    const message = `plugin "${name}" has version ${found.manifest?.version ?? '(none)'}, but the project requires ${version}`;
    problems.push({ reason: 'PluginNotFound', message });
    return undefined;
  }
  return found;
}

function nameOf({ ref }: PluginSource): string {
  return ref.spec.plugin ?? ref.metadata.name;
}

/** Reports whether the listed plugin names this PluginRef. */
function isOf({ name, pluginRef, namespace }: ListedPlugin, own: string | undefined, { ref }: PluginSource): boolean {
  const wanted = pluginRef ?? (namespace === undefined ? undefined : name);
  return wanted === ref.metadata.name && (namespace ?? own) === ref.metadata.namespace;
}

/** Returns the same text for a missing plugin and for one that does not allow it: its existence is not revealed. */
function missing({ name, pluginRef, namespace }: ListedPlugin, own: string | undefined): string {
  if (namespace !== undefined && namespace !== own) {
    const ref = `PluginRef "${namespace}/${pluginRef ?? name}"`;
    return `${ref} does not exist, or its spec.allowedNamespaces does not allow "${own}"`;
  }
  return pluginRef !== undefined || namespace !== undefined
    ? `PluginRef "${pluginRef ?? name}" does not exist`
    : `plugin "${name}" is not built in, and no PluginRef provides it`;
}

/** Returns only the reason for another namespace's plugin: its message may reveal content. */
function notAccepted({ ref }: PluginSource, refusal: Refusal, own: string | undefined): Refusal {
  const { name, namespace } = ref.metadata;
  const reason = refusal.reason === 'Fetching' ? refusal.reason : 'PluginNotAccepted';
  if (namespace !== own)
    return { reason, message: `PluginRef "${namespace}/${name}" is not accepted: ${refusal.reason}` };
  return { reason, message: `PluginRef "${name}": ${refusal.message}` };
}
