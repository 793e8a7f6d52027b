/**
 * The plugins of a project, made ready to be bound: manifest, config validator, marks
 * (docs/reference/plugins.md#packages).
 */

import { type Marks, manifestMarks, marksOf } from '../../artifact/config-marks.ts';
import type { ArtifactPlugin, JsonObject } from '../../artifact/format.ts';
import { PLUGINS_DIR } from '../../artifact/format.ts';
import { sha256 } from '../../artifact/hash.ts';
import type { Diagnostics, Place } from '../../spec/diagnostic.ts';
import { messageOf } from '../../text/message-of.ts';
import { manifestPlace } from '../project/manifest-place.ts';
import type { PluginManifest, Project, ProjectPlugin } from '../project/project.ts';
import { type ConfigValidator, configValidator } from './config-schema.ts';
import { inspectModule } from './wasm-module.ts';

export interface PreparedPlugin {
  readonly name: string;
  readonly manifest: PluginManifest;
  readonly wasm: Uint8Array;
  readonly marks: Marks;
  readonly validate: ConfigValidator;
  /** Default below project (docs/decisions.md#one-project). */
  readonly config: JsonObject;
}

/** Reports whether it declares one of these host functions. */
export function usesAny({ manifest }: PreparedPlugin, functions: readonly string[]): boolean {
  return functions.some((each) => manifest.host_functions.includes(each));
}

/** A config that an operation binds a plugin to. */
export interface BoundConfig {
  readonly config: JsonObject;
  readonly place: Place;
}

export interface PluginLoad {
  readonly plugin: PreparedPlugin;
  /** Each once. */
  readonly configs: readonly BoundConfig[];
}

/** Prepares a plugin when an operation first uses it. Unused plugins are checked all the same, but not bundled. */
export class Plugins {
  readonly #project: Project;
  readonly #declared: ReadonlyMap<string, ProjectPlugin>;
  readonly #diagnostics: Diagnostics;
  readonly #prepared = new Map<string, PreparedPlugin | null>();
  readonly #used = new Set<string>();

  constructor(project: Project, diagnostics: Diagnostics) {
    this.#project = project;
    this.#declared = new Map(project.plugins.map((plugin) => [plugin.name, plugin]));
    this.#diagnostics = diagnostics;
  }

  /** Where the project declares a plugin. */
  #placeOf(name: string): Place | null {
    return manifestPlace(this.#project, ['plugins', name]);
  }

  get names(): readonly string[] {
    return [...this.#declared.keys()].sort();
  }

  /** Returns undefined if the plugin is not declared; null if it is not usable (E1042). */
  use(name: string): PreparedPlugin | null | undefined {
    const plugin = this.#get(name);
    if (!this.#used.has(name)) this.#warnOfMissing(name);
    this.#used.add(name);
    return plugin;
  }

  /** Like `use`, for a plugin that may end up in no route. */
  find(name: string): PreparedPlugin | null | undefined {
    return this.#get(name);
  }

  #warnOfMissing(name: string): void {
    const plugin = this.#declared.get(name);
    if (!plugin) return;
    const missing = [
      ...(plugin.manifest ? [] : ['plugin.toml']),
      ...(plugin.configSchema ? [] : ['config-schema.json']),
    ];
    if (missing.length > 0)
      this.#diagnostics.add('E1071', this.#placeOf(name), `plugin "${name}" has no ${missing.join(' and no ')}`);
  }

  #get(name: string): PreparedPlugin | null | undefined {
    const known = this.#prepared.get(name);
    if (known !== undefined) return known;
    const plugin = this.#declared.get(name);
    if (!plugin) return undefined;
    const prepared = this.#prepare(plugin);
    this.#prepared.set(name, prepared);
    return prepared;
  }

  /** Used plugins, by name. */
  get used(): readonly PreparedPlugin[] {
    return this.#usable([...this.#used].sort());
  }

  /** All declared plugins, by name. */
  get all(): readonly PreparedPlugin[] {
    return this.#usable(this.names);
  }

  #usable(names: readonly string[]): readonly PreparedPlugin[] {
    return names.flatMap((name) => this.#get(name) ?? []);
  }

  #prepare(plugin: ProjectPlugin): PreparedPlugin | null {
    const { name, wasm, configSchema } = plugin;
    const module = inspectModule(wasm);
    if ('why' in module) {
      this.#diagnostics.add('E1042', this.#placeOf(name), `plugin "${name}": ${module.why}`);
      return null;
    }
    const declared = plugin.manifest?.name ?? name;
    if (declared !== name) {
      this.#diagnostics.add(
        'E1042',
        this.#placeOf(name),
        `plugin "${name}": its plugin.toml is that of "${declared}"`,
        `Rename the plugin to ${declared} in its declaration and uses, or give it a plugin.toml of its own.`,
      );
      return null;
    }
    try {
      return {
        name,
        wasm,
        manifest: plugin.manifest ?? { ...module.manifest, name },
        marks: marksOf(configSchema),
        validate: configSchema ? configValidator(configSchema) : (config) => ({ config, errors: [] }),
        config: { ...plugin.defaultConfig, ...plugin.config },
      };
    } catch (error) {
      const reason = messageOf(error);
      this.#diagnostics.add(
        'E1042',
        this.#placeOf(name),
        `plugin "${name}": config-schema.json is not usable: ${reason.slice(0, 200)}`,
      );
      return null;
    }
  }
}

export function artifactPlugin({ name, manifest, wasm, marks }: PreparedPlugin): ArtifactPlugin {
  const { version, type, host_functions, request_body, response_body, cpu_ms } = manifest;
  const { preflight, inspects, authenticates } = manifest;
  const config_marks = manifestMarks(marks);
  return {
    name,
    version,
    plugin_type: type,
    wasm_path: `${PLUGINS_DIR}${name}.wasm`,
    sha256: sha256(wasm),
    capabilities: {
      body_access: request_body !== 'none' || response_body !== 'none',
      host_functions: [...host_functions].sort(),
      request_body,
      response_body,
      ...(cpu_ms === undefined ? {} : { cpu_ms }),
    },
    ...(preflight ? { preflight } : {}),
    ...(inspects ? { inspects } : {}),
    ...(authenticates ? { authenticates } : {}),
    ...(config_marks ? { config_marks } : {}),
  };
}
