/** Puts a GatewayProject's ApiSpecs and plugins together into the one input of the compiler (D1). Pure. */
import type { Project, ProjectFile, ProjectPlugin } from '@gw/gateway/compiler';
import type { ApiSpec, GatewayProject, PluginRef } from '../../api/resources.ts';
import { selects } from '../../runtime/selector.ts';
import type { Document } from '../api-spec/document.ts';
import type { LoadedPlugin } from '../plugin-ref/plugin-package.ts';
import type { Read, Refusal } from '../source.ts';

export interface SpecSource {
  readonly apiSpec: ApiSpec;
  readonly read: Read<{ readonly document: Document }>;
}

export interface PluginSource {
  readonly ref: PluginRef;
  readonly read: Read<LoadedPlugin>;
}

/** Everything that a project is compiled from, as it was found. */
export interface Sources {
  readonly specs: readonly SpecSource[];
  readonly plugins: readonly PluginSource[];
  /** The built-in plugins that the project lists, by name. */
  readonly builtins: ReadonlyMap<string, ProjectPlugin>;
  /** PEM of the signing key, where the project names one. */
  readonly signingKey?: Read<{ readonly pem: string }>;
}

export type Gathered =
  | { readonly ok: true; readonly inputs: Project }
  | { readonly ok: false; readonly problems: readonly Refusal[] };

/** Whether the project takes the ApiSpec, by name or by label. */
export function takesSpec(project: GatewayProject, apiSpec: ApiSpec): boolean {
  const { names, selector } = project.spec.specs;
  const named = names?.includes(apiSpec.metadata.name) ?? false;
  return named || (selector !== undefined && selects(selector, apiSpec.metadata.labels));
}

/** Whether the project takes the PluginRef, by name or by label. */
export function takesPlugin(project: GatewayProject, ref: PluginRef): boolean {
  const { plugins = [], pluginSelector } = project.spec;
  if (plugins.some((plugin) => plugin.pluginRef === ref.metadata.name)) return true;
  return pluginSelector !== undefined && selects(pluginSelector, ref.metadata.labels);
}

/** A folder an ApiSpec: files of two that have the same name stay apart, and diagnostics find their way back. */
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
      problems.push({ reason: 'SpecNotAccepted', message: `ApiSpec "${apiSpec.metadata.name}": ${read.message}` });
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
  if (problems.length > 0) return { ok: false, problems };
  const { upstreams, allowPlaintext } = project.spec;
  const inputs: Project = {
    specs,
    files,
    plugins,
    ...(upstreams ? { upstreams } : {}),
    flags: {
      // D8: the operator builds for production unless plaintext is admitted.
      ...(allowPlaintext ? { allowPlaintext: true } : { production: true }),
      ...(sources.signingKey?.ok ? { signingKey: sources.signingKey.pem } : {}),
    },
  };
  return { ok: true, inputs };
}

function gatherPlugins(project: GatewayProject, sources: Sources, problems: Refusal[]): readonly ProjectPlugin[] {
  const plugins = new Map<string, ProjectPlugin>();
  const nameOf = ({ ref }: PluginSource) => ref.spec.plugin ?? ref.metadata.name;
  const listed = project.spec.plugins ?? [];
  for (const { name, pluginRef, version, config } of listed) {
    const candidates = sources.plugins.filter((source) =>
      pluginRef ? source.ref.metadata.name === pluginRef : nameOf(source) === name,
    );
    if (candidates.length > 1) {
      const names = candidates.map(({ ref }) => ref.metadata.name).join(', ');
      problems.push({
        reason: 'InvalidSpec',
        message: `plugin "${name}" is given by several PluginRefs (${names}): name one in spec.plugins`,
      });
      continue;
    }
    const source = candidates[0];
    if (source && !source.read.ok) {
      problems.push({
        reason: 'PluginNotAccepted',
        message: `PluginRef "${source.ref.metadata.name}": ${source.read.message}`,
      });
      continue;
    }
    const found = source?.read.ok ? source.read.plugin : pluginRef ? undefined : sources.builtins.get(name);
    if (!found) {
      const message = pluginRef
        ? `PluginRef "${pluginRef}" does not exist`
        : `plugin "${name}" is not built in, and no PluginRef gives it`;
      problems.push({ reason: 'PluginNotFound', message });
      continue;
    }
    if (version !== undefined && found.manifest?.version !== version) {
      problems.push({
        reason: 'PluginNotFound',
        message: `plugin "${name}" has version ${found.manifest?.version ?? '(none)'}, the project asks for ${version}`,
      });
      continue;
    }
    plugins.set(name, { ...found, name, ...(config ? { config } : {}) });
  }
  for (const source of sources.plugins) {
    const name = nameOf(source);
    // Listed ones have been taken, or refused, above.
    if (listed.some((plugin) => plugin.name === name || plugin.pluginRef === source.ref.metadata.name)) continue;
    if (plugins.has(name))
      problems.push({
        reason: 'InvalidSpec',
        message: `plugin "${name}" is given by several PluginRefs: list it in spec.plugins with its pluginRef`,
      });
    else if (!source.read.ok)
      problems.push({
        reason: 'PluginNotAccepted',
        message: `PluginRef "${source.ref.metadata.name}": ${source.read.message}`,
      });
    else plugins.set(name, source.read.plugin);
  }
  return [...plugins.values()];
}
