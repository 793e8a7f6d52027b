/** Loads plugin modules and binds them to configs (docs/decisions.md#plugins-are-webassembly; gateway/sdk/ABI.md). */

import { hash } from 'node:crypto';
import { marked } from '../artifact/config-marks.ts';
import type { ArtifactPlugin, JsonObject } from '../artifact/format.ts';
import type { Upstream } from '../hand-off.ts';
import type { PluginFigures } from '../telemetry/figures.ts';
import { checkExports, checkImports, INITIALIZE } from './abi.ts';
import type { Hook } from './binary/module-shapes.ts';
import { PluginLoadError } from './binary/plugin-load-error.ts';
import { type Configured, ModuleBinding } from './bound-plugin.ts';
import type { Binding } from './call/call.ts';
import type { PluginServices } from './call/capability.ts';
import { ConfigView } from './call/config-view.ts';
import { reasonOf } from './call/outcome.ts';
import {
  type BindOptions,
  type BoundPlugin,
  DEFAULT_LIMITS,
  type LoadedModule,
  type PluginLimits,
  type PluginRuntime,
} from './call/plugin.ts';
import { compileModule } from './compile-module.ts';
import { RuntimeFunctions } from './host/host-functions.ts';
import type { Instance } from './instance.ts';
import { meteredModule } from './metered-modules.ts';
import { InstanceCap, ModulePool } from './pool.ts';
import type { Snapshot } from './snapshot.ts';

/** CPU milliseconds for a module's initialisers and for `init`: they run once for each config, at load. */
const INIT_CPU_MS = 1_000;
/** A direct call holds up everything else: it may do so, the first time that it runs long, for no more than this. */
const MOST_DIRECT_MS = 50;
/** Milliseconds between removals of unused instances. */
const TRIM_MS = 10_000;

/** Makes the runtime of a process; `limits`: those that differ from the defaults. */
export function createPluginRuntime(services: PluginServices, limits: Partial<PluginLimits> = {}): PluginRuntime {
  return new Runtime(services, { ...DEFAULT_LIMITS, ...limits });
}

class Runtime implements PluginRuntime {
  readonly #services: PluginServices;
  readonly #functions: RuntimeFunctions;
  readonly #limits: PluginLimits;
  readonly #cap: InstanceCap;
  readonly #trim: NodeJS.Timeout;

  constructor(services: PluginServices, limits: PluginLimits) {
    this.#services = services;
    this.#functions = new RuntimeFunctions(services.capabilities);
    this.#limits = limits;
    this.#cap = new InstanceCap(limits.instances, limits.queue, limits.waitingBytes);
    this.#trim = setInterval(() => this.#cap.trim(), TRIM_MS).unref();
  }

  get figures(): PluginFigures {
    return this.#cap.figures;
  }

  async load(plugin: ArtifactPlugin, wasm: Uint8Array): Promise<LoadedModule> {
    const services = this.#services;
    const functions = this.#functions;
    return named(plugin, async () => {
      const { bytes, imports, exports, mutableGlobals, blockBits } = meteredModule(wasm, this.#limits.memoryBytes);
      checkImports(plugin, imports, functions.table);
      const hooks = checkExports(plugin, exports);
      const initialiser = exports.some(({ name }) => name === INITIALIZE);
      const code = {
        module: await compileModule(bytes),
        functions,
        imports: imports.map(({ name }) => name),
        entries: [...hooks, ...(initialiser ? [INITIALIZE] : [])],
        mutableGlobals,
        blockBits,
      };
      const config = new ConfigView(plugin, {});
      const binding = initBinding(plugin, services, { config, bound: functions.bind(config), upstreams: new Map() });
      const direct = this.#limits.cpuMs <= MOST_DIRECT_MS && !code.imports.some((name) => functions.mayWait(name));
      const pool = new ModulePool(code, binding, this.#cap, direct);
      const pristine = await firstSnapshot(pool, binding, initialiser);
      return new Module(plugin, hooks, { pool, pristine, services, functions, cpuMs: this.#limits.cpuMs });
    });
  }

  close(): void {
    clearInterval(this.#trim);
    this.#cap.close();
  }
}

/** Puts the plugin's name before error messages. */
async function named<T>(plugin: ArtifactPlugin, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const says = reasonOf(error);
    const name = `plugin "${plugin.name}"`;
    throw new PluginLoadError(says.startsWith(name) ? says : `${name}: ${says}`, { cause: error });
  }
}

function initBinding(
  plugin: ArtifactPlugin,
  services: PluginServices,
  ofConfig: Pick<Binding, 'config' | 'bound' | 'upstreams'>,
): Binding {
  const authenticates = plugin.authenticates ?? false;
  return { name: plugin.name, authenticates, ...ofConfig, services, owner: null, cpuMs: INIT_CPU_MS };
}

/** The state before `init`, after the initialisers that the toolchain wants to run. */
async function firstSnapshot(pool: ModulePool, binding: Binding, initialiser: boolean): Promise<Snapshot> {
  return borrow(pool, null, async (instance) => {
    if (initialiser) await instance.initialise(INITIALIZE, binding, null);
    return instance.snapshot();
  });
}

async function borrow<T>(pool: ModulePool, from: Snapshot | null, use: (instance: Instance) => Promise<T>): Promise<T> {
  const instance = pool.take(from, null, false);
  if (instance === undefined) throw new PluginLoadError('all plugin instances are in use: load it again later');
  try {
    const result = await use(instance);
    pool.release(instance);
    return result;
  } catch (error) {
    pool.drop(instance);
    throw error;
  }
}

interface ModuleDeps {
  readonly pool: ModulePool;
  readonly pristine: Snapshot;
  readonly services: PluginServices;
  readonly functions: RuntimeFunctions;
  readonly cpuMs: number;
}

class Module implements LoadedModule {
  readonly #plugin: ArtifactPlugin;
  readonly #hooks: ReadonlySet<Hook>;
  readonly #pool: ModulePool;
  readonly #pristine: Snapshot;
  readonly #services: PluginServices;
  readonly #functions: RuntimeFunctions;
  readonly #cpuMs: number;
  /** Configured plugins by digest of the config. */
  readonly #configured = new Map<string, Promise<Configured>>();
  #users = 0;

  constructor(
    plugin: ArtifactPlugin,
    hooks: ReadonlySet<Hook>,
    { pool, pristine, services, functions, cpuMs }: ModuleDeps,
  ) {
    this.#plugin = plugin;
    this.#hooks = hooks;
    this.#pool = pool;
    this.#pristine = pristine;
    this.#services = services;
    this.#functions = functions;
    this.#cpuMs = Math.min(plugin.capabilities.cpu_ms ?? cpuMs, cpuMs);
  }

  async bind(config: JsonObject, { keepsMemory = false }: BindOptions = {}): Promise<BoundPlugin> {
    const key = hash('sha256', JSON.stringify(config), 'base64');
    let configured = this.#configured.get(key);
    if (configured === undefined) {
      configured = named(this.#plugin, () => this.#configure(config));
      this.#configured.set(key, configured);
      configured.catch(() => this.#configured.delete(key));
    }
    const ready = await configured;
    if (this.#users++ === 0) this.#pool.open();
    let open = true;
    const closed = () => {
      if (!open) return;
      open = false;
      if (--this.#users === 0) this.#pool.close();
    };
    return new ModuleBinding(this.#plugin, this.#hooks, ready, this.#pool, this.#services, {
      cpuMs: this.#cpuMs,
      keepsMemory,
      closed,
    });
  }

  async #configure(config: JsonObject): Promise<Configured> {
    const view = new ConfigView(this.#plugin, config);
    const bound = this.#functions.bind(view);
    const upstreams = openUpstreams(this.#plugin, config, this.#services);
    const binding = initBinding(this.#plugin, this.#services, { config: view, bound, upstreams });
    const ready = await borrow(this.#pool, this.#pristine, async (instance) => {
      const result = await instance.initialise('init', binding, this.#pristine);
      const { refusal, passesResponse, bodyNeed, problemForm } = instance.call;
      if (result !== 0 || refusal !== null) {
        throw new PluginLoadError(`rejects its config: ${refusal ?? `init returned ${result}`}`);
      }
      return { snapshot: instance.snapshot(), passesResponse, bodyNeed, problemForm };
    });
    return { config: view, bound, upstreams, ...ready };
  }
}

/** Opens the upstream of every property marked as one. Throws the errors of `openUpstream`, with the property named. */
function openUpstreams(
  plugin: ArtifactPlugin,
  config: JsonObject,
  services: PluginServices,
): ReadonlyMap<string, Upstream> {
  const upstreams = new Map<string, Upstream>();
  for (const pattern of plugin.config_marks?.upstreams ?? []) {
    for (const { pointer, value: url } of marked(config, pattern)) {
      if (typeof url !== 'string') throw new PluginLoadError(`config ${pointer} must be a URL`);
      try {
        upstreams.set(pointer, services.openUpstream(url, config));
      } catch (error) {
        throw new PluginLoadError(`config ${pointer}: ${reasonOf(error)}`, { cause: error });
      }
    }
  }
  return upstreams;
}
