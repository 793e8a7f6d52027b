/**
 * Binds an operation's plugin uses to plugins: config merged, validated and checked (docs/reference/plugins.md#config;
 * E1030 to E1073).
 */
import { APP_UPSTREAM } from '../../artifact/app-upstream.ts';
import { sortedMembers } from '../../artifact/canonical-json.ts';
import { mapMarked, marked } from '../../artifact/config-marks.ts';
import type { JsonObject, PluginType, PluginUse } from '../../artifact/format.ts';
import { builtinNames } from '../../plugins/builtin.ts';
import type { Diagnostics, Place } from '../../spec/diagnostic.ts';
import { member, placeOf } from '../../spec/documents.ts';
import type { DeclaredUse } from '../../spec/extensions.ts';
import { child, pointerTokens } from '../../spec/pointer.ts';
import { CREDENTIALS_HINT, credentialPlaces, withoutCredentials } from '../../spec/url-credentials.ts';
import { didYouMean } from '../../text/nearest-name.ts';
import { manifestPlace, placeInConfig } from '../project/manifest-place.ts';
import type { Project } from '../project/project.ts';
import { headersOfBalance } from '../project/upstream-policies.ts';
import type { BoundUse } from './admitted-headers.ts';
import { type ConfigChecks, checkConditions, decidesByCaller } from './conditions.ts';
import type { ConfigData } from './config-data.ts';
import { type ConfigError, isReference } from './config-schema.ts';
import { type BoundConfig, type PluginLoad, type Plugins, type PreparedPlugin, usesAny } from './plugins.ts';

interface Bound {
  readonly config: JsonObject;
  readonly errors: readonly ConfigError[];
}

export interface BinderChecks extends ConfigChecks {
  readonly data: ConfigData;
}

export class Binder {
  readonly #plugins: Plugins;
  readonly #project: Project;
  readonly #diagnostics: Diagnostics;
  readonly #checks: BinderChecks;
  readonly #configs = new Map<string, Bound>();
  /** Bound configs by plugin and config. */
  readonly #bound = new Map<string, BoundConfig & { readonly name: string }>();
  /** Names of upstreams with a policy that configs use. */
  readonly namedUpstreams = new Set<string>();

  constructor(plugins: Plugins, project: Project, diagnostics: Diagnostics, checks: BinderChecks) {
    this.#plugins = plugins;
    this.#project = project;
    this.#diagnostics = diagnostics;
    this.#checks = checks;
  }

  /** Reports whether there is such a plugin, which uses one of these host functions. */
  knowsUser(name: unknown, functions: readonly string[]): boolean {
    const plugin = typeof name === 'string' ? this.#plugins.find(name) : null;
    return plugin ? usesAny(plugin, functions) : false;
  }

  /** Reports whether a use decides by the caller alone. */
  decidesByCaller({ name, config }: PluginUse): boolean {
    const plugin = this.#plugins.use(name);
    return plugin ? decidesByCaller(plugin, config, this.#checks.readCondition) : false;
  }

  /** Returns null, with a diagnostic, if the plugin cannot be used so. `spec`: file of the document that is served. */
  bind(declared: DeclaredUse, type: PluginType, spec: string): BoundUse | null {
    const { name, at } = declared;
    const plugin = this.#plugins.use(name);
    // Credentials are reported without looking the plugin up: some servers check documents alone.
    for (const { pointer, message } of credentialPlaces(declared.config)) {
      this.#diagnostics.add(
        'E1030',
        placeInConfig(declared, pointer),
        `plugin "${name}": ${message}`,
        CREDENTIALS_HINT,
      );
    }
    const namePlace = placeOf(member(at, 'name'));
    if (plugin === undefined) {
      const known = this.#plugins.names;
      const list = known.length === 0 ? 'no plugins' : known.join(', ');
      const message = `plugin "${name}" is not declared (declared: ${list})`;
      this.#diagnostics.add('E1040', namePlace, message, undeclaredHint(name, known));
      return null;
    }
    if (plugin === null) return null;
    if (plugin.manifest.type !== type) {
      this.#diagnostics.add('E1041', namePlace, `"${name}" is a ${plugin.manifest.type}, but is used as a ${type}`);
      return null;
    }
    const projectConfig = { project: this.#project, plugin };
    const { config, errors } = this.#configure(plugin, declared);
    for (const { pointer, message, hint, expression } of errors) {
      const code = expression ? 'E1032' : 'E1030';
      this.#diagnostics.add(
        code,
        placeInConfig(declared, pointer, projectConfig),
        `plugin "${name}": ${message}`,
        hint,
      );
    }
    const resolved = this.#upstreams(plugin, declared, config);
    const hashHeaders = this.#named(plugin, declared, config);
    this.#secrets(plugin, declared, resolved);
    const conditions = checkConditions(plugin, resolved, this.#checks.readCondition);
    for (const { pointer, message } of conditions.errors) {
      this.#diagnostics.add(
        'E1032',
        placeInConfig(declared, pointer, projectConfig),
        `plugin "${name}": ${message}`,
        EXPRESSION_HINT,
      );
    }
    const isValid = errors.length === 0 && conditions.errors.length === 0;
    const place = (pointer: string) => placeInConfig(declared, pointer, projectConfig);
    const complete = isValid ? this.#checks.data.add(plugin, resolved, { spec, place }) : null;
    if (complete) this.#note(name, complete, placeOf(at));
    const use: PluginUse = { name, config: complete ?? resolved };
    return { plugin, use, readHeaders: [...conditions.headers, ...hashHeaders] };
  }

  #note(name: string, config: JsonObject, place: Place): void {
    const key = `${name}\0${JSON.stringify(config)}`;
    if (!this.#bound.has(key)) this.#bound.set(key, { name, config, place });
  }

  /** Plugins that the gateway will load: every declared one, with the configs that operations bind it to. */
  get loads(): readonly PluginLoad[] {
    const configs = Map.groupBy(this.#bound.values(), ({ name }) => name);
    return this.#plugins.all.map((plugin) => ({ plugin, configs: configs.get(plugin.name) ?? [] }));
  }

  /**
   * Default, then project, then operation, by property, in one order (docs/decisions.md#one-project); equal configs are
   * validated once.
   */
  #configure(plugin: PreparedPlugin, { config }: DeclaredUse): Bound {
    const merged = { ...plugin.config, ...config };
    const key = `${plugin.name}\0${JSON.stringify(merged)}`;
    let bound = this.#configs.get(key);
    if (!bound) {
      const { config: valid, ...rest } = plugin.validate(merged);
      // Doors keep no order of members: a database and a cluster give them in one of their own
      // (docs/decisions.md#one-project).
      bound = { ...rest, config: sortedMembers(valid) };
      this.#configs.set(key, bound);
    }
    return bound;
  }

  #upstreams(plugin: PreparedPlugin, declared: DeclaredUse, config: JsonObject): JsonObject {
    const { flags } = this.#project;
    const upstreams = withUrls(this.#project);
    const nameIn = (value: unknown) => {
      const name = typeof value === 'string' ? /^upstream:\/\/(.*)$/.exec(value)?.[1] : undefined;
      return name !== undefined && Object.hasOwn(upstreams, name) ? name : undefined;
    };
    const named = (text: string) => upstreams[nameIn(text) ?? '']?.url ?? text;
    const given = new Map(
      plugin.marks.upstreams.flatMap((pattern) => marked(config, pattern).map((each) => [each.pointer, each.value])),
    );
    const resolved = mapMarked(config, plugin.marks.upstreams, named);
    for (const { pointer, value } of plugin.marks.upstreams.flatMap((pattern) => marked(resolved, pattern))) {
      if (typeof value !== 'string') continue;
      const place = placeInConfig(declared, pointer, { project: this.#project, plugin });
      if (value === APP_UPSTREAM) continue;
      if (value.startsWith('upstream://')) {
        const known = Object.keys(upstreams).sort();
        const missing = value.slice('upstream://'.length);
        if (Object.hasOwn(this.#project.upstreams ?? {}, missing)) {
          this.#diagnostics.add(
            'E1033',
            place,
            `upstream "${missing}" has no URL: its addresses are given when it is served`,
            `Write "upstream: ${missing}" in the config, instead of the URL.`,
          );
          continue;
        }
        this.#diagnostics.add(
          'E1033',
          place,
          `there is no upstream "${missing}" (declared: ${known.join(', ') || 'no upstreams'})`,
          didYouMean(missing, known) ??
            `Add ${missing.slice(0, 60)}: { url: "https://api.example.com" } under "upstreams" of the project.`,
        );
      } else if (/^(http|ws):/i.test(value) && (flags.production || !flags.allowPlaintext)) {
        const hint = flags.production
          ? 'Use https:// (or wss://): production builds allow no plaintext upstreams.'
          : undefined;
        const name = nameIn(given.get(pointer));
        const says = `upstream ${name === undefined ? '' : `"${name}", `}${withoutCredentials(value)}${name === undefined ? '' : ','} is plaintext`;
        // One that the project names is at fault there, however many operations use it.
        const declaredAt = name === undefined ? place : manifestPlace(this.#project, ['upstreams', name, 'url']);
        this.#diagnostics.add('E1031', declaredAt, says, hint);
      }
      const fault = isReference(value) ? null : faultOfUrl(value);
      if (fault !== null)
        this.#diagnostics.add('E1030', place, fault, 'Write scheme and host, as in https://api.example.');
    }
    return resolved;
  }

  /** Checks the names of upstreams with a policy. Returns the headers that their policies read. */
  #named(plugin: PreparedPlugin, declared: DeclaredUse, config: JsonObject): readonly string[] {
    const { upstreams = {} } = this.#project;
    return plugin.marks.namedUpstreams
      .flatMap((pattern) => marked(config, pattern))
      .flatMap(({ pointer, value }) => {
        if (typeof value !== 'string') return [];
        const upstream = Object.hasOwn(upstreams, value) ? upstreams[value] : undefined;
        if (upstream === undefined || upstream.url !== undefined) {
          const place = placeInConfig(declared, pointer, { project: this.#project, plugin });
          this.#diagnostics.add('E1033', place, ...namedFault(value, this.#project));
          return [];
        }
        this.namedUpstreams.add(value);
        return headersOfBalance(upstream);
      });
  }

  #secrets(plugin: PreparedPlugin, declared: DeclaredUse, config: JsonObject): void {
    for (const { pointer, value } of plugin.marks.secrets.flatMap((pattern) => marked(config, pattern))) {
      if (typeof value !== 'string' || value === '' || isReference(value)) continue;
      if (this.#isHashed(plugin, pointer, value)) continue;
      this.#diagnostics.add(
        'E1070',
        placeInConfig(declared, pointer, { project: this.#project, plugin }),
        `"${pointer.slice(1)}" of plugin "${plugin.name}" is a secret in plain text`,
      );
    }
    if (this.#project.flags.production && config['skip_signature_validation'] === true) {
      const place = placeInConfig(declared, '/skip_signature_validation', { project: this.#project, plugin });
      this.#diagnostics.add('E1073', place, `plugin "${plugin.name}" skips the validation of signatures`);
    }
  }

  /**
   * Reports whether the value is a hash, as passwords and keys may be; elsewhere a hash would be a secret in plain text.
   */
  #isHashed({ marks }: PreparedPlugin, pointer: string, value: string): boolean {
    const tokens = pointerTokens(pointer) ?? [];
    const table = tokens.slice(0, -2).reduce(child, '');
    const mark = marks.credentials.find((each) => each.pointer === table && each.property === tokens.at(-1));
    return mark !== undefined && mark.kind !== 'hmac' && this.#checks.isHash[mark.kind ?? 'key'](value);
  }
}

/** Returns how to declare the plugin: a project lists the plugins that its documents may use, built-in ones as well. */
function undeclaredHint(name: string, declared: readonly string[]): string {
  const builtin = builtinNames();
  const near = builtin.includes(name) ? null : (didYouMean(name, declared) ?? didYouMean(name, builtin));
  if (near !== null) return near;
  const entry = builtin.includes(name) ? `"${name}: {}"` : `"${name}: { path: plugins/${name}/${name}.wasm }"`;
  return `Add ${entry} under "plugins" of gw.yaml, or "name: ${name}" under spec.plugins of the GatewayProject.`;
}

function withUrls({ upstreams = {} }: Project): Readonly<Record<string, { readonly url: string }>> {
  return Object.fromEntries(
    Object.entries(upstreams).flatMap(([name, { url }]) => (url === undefined ? [] : [[name, { url }]])),
  );
}

/** Returns message and hint for a name without a policy. */
function namedFault(name: string, { upstreams = {} }: Project): readonly [message: string, hint: string] {
  if (Object.hasOwn(upstreams, name))
    return [
      `upstream "${name}" has a URL`,
      `Write "url: upstream://${name}" in the config, or remove "url" of the upstream: its addresses are then given when it is served.`,
    ];
  const known = Object.keys(upstreams).filter((each) => upstreams[each]?.url === undefined);
  return [
    `there is no upstream "${name}" (declared without a URL: ${known.sort().join(', ') || 'no upstreams'})`,
    didYouMean(name, known) ?? `Add "${name.slice(0, 60)}: {}" under "upstreams" of gw.yaml.`,
  ];
}

const EXPRESSION_HINT =
  'Correct the CEL expression: docs/reference/plugins.md#cel lists the variables and functions that it may use.';

/** Returns the fault that would stop the gateway's start, or null. */
function faultOfUrl(text: string): string | null {
  const url = URL.parse(text);
  return url === null || url.host === '' ? `upstream "${withoutCredentials(text)}" is not a URL` : null;
}
