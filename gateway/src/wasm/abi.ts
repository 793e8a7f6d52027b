/** Checks a module's imports and exports against the ABI and its plugin.toml (sdk/ABI.md), and says what to do. */
import type { ArtifactPlugin } from '../artifact/format.ts';
import type { Hook } from './binary/module-shapes.ts';
import { PluginLoadError } from './binary/plugin-load-error.ts';
import { describeSignature, type FunctionImport, type ModuleExport, type ValueType } from './binary/types.ts';

import type { HostFunctionInfo } from './call/host-function.ts';
import { describeForeignImports } from './foreign-imports.ts';
import { ABI_MODULE, type HostFunctionTable } from './host/host-functions.ts';
import { NOTHING_TO_AWAIT } from './sdk-advice.ts';

/** Optional: code of the toolchain that runs first, such as initialisers of global variables. */
export const INITIALIZE = '_initialize';

const middlewareHooks: readonly Hook[] = [
  'on_request',
  'on_response',
  'on_request_chunk',
  'on_request_end',
  'on_response_chunk',
  'on_response_end',
];
const allHooks: readonly Hook[] = ['init', 'dispatch', ...middlewareHooks];

/** Throws PluginLoadError if an import is unknown, undeclared, or of another type. */
export function checkImports(
  plugin: ArtifactPlugin,
  imports: readonly FunctionImport[],
  table: HostFunctionTable,
): void {
  const declared = new Set(plugin.capabilities.host_functions);
  for (const name of declared) {
    if (!table.get(name)?.declared) {
      throw new PluginLoadError(
        `plugin "${plugin.name}" declares the host function ${name}, which this gateway does not have: known are ${[
          ...table,
        ]
          .flatMap(([known, { declared }]) => (declared ? [known] : []))
          .join(', ')}`,
      );
    }
  }
  const foreign = imports.filter(({ module }) => module !== ABI_MODULE);
  if (foreign.length > 0) throw foreignModules(plugin, foreign);
  for (const { module, name, signature } of imports) {
    const says = `plugin "${plugin.name}" imports ${module}.${name}`;
    const fn = table.get(name);
    if (fn === undefined) throw new PluginLoadError(`${says}, which this gateway does not have: see the plugin ABI`);
    if (fn.declared && !declared.has(name)) {
      throw new PluginLoadError(
        `${says}, which its plugin.toml does not declare: add it to [capabilities].host_functions`,
      );
    }
    const wanted = signatureOf(fn);
    if (describeSignature(signature) !== wanted) {
      throw new PluginLoadError(`${says} as ${describeSignature(signature)}: it is ${wanted}`);
    }
    if (fn.body !== undefined && plugin.capabilities[fn.body] !== 'buffer') {
      throw new PluginLoadError(`${says}, which needs ${fn.body} = "buffer" under [capabilities] of its plugin.toml`);
    }
  }
}

function foreignModules({ name }: ArtifactPlugin, imports: readonly FunctionImport[]): PluginLoadError {
  for (const each of imports) {
    const version = /^gw_abi_(\d+)$/.exec(each.module)?.[1];
    if (version === undefined) continue;
    const says = `plugin "${name}" imports ${each.module}.${each.name}`;
    return new PluginLoadError(`${says}: that is ABI version ${version}, and this gateway speaks version 1 only`);
  }
  const names = imports.map((each) => `${each.module}.${each.name}`);
  return new PluginLoadError(`plugin "${name}" ${describeForeignImports(names)}`);
}

/** The signature in words, as describeSignature gives it. */
export function signatureOf({ signature }: HostFunctionInfo): string {
  const [params = '', results = ''] = signature.split(':');
  const types = (letters: string): ValueType[] => [...letters].map((letter) => (letter === 'd' ? 'f64' : 'i32'));
  return describeSignature({ params: types(params), results: types(results) });
}

/** Returns the hooks that the module exports. Throws PluginLoadError if they do not match the plugin's type. */
export function checkExports(plugin: ArtifactPlugin, exports: readonly ModuleExport[]): ReadonlySet<Hook> {
  const says = `plugin "${plugin.name}"`;
  const byName = new Map(exports.map((entry) => [entry.name, entry]));
  if (byName.get('memory')?.kind !== 'memory')
    throw new PluginLoadError(`${says} does not export its memory as "memory"`);
  const hooks = new Set<Hook>();
  for (const hook of allHooks) {
    const entry = byName.get(hook);
    if (entry === undefined) continue;
    const type = entry.signature && describeSignature(entry.signature);
    if (type !== '() -> i32') {
      // A function that returns more than a number takes a pointer for it.
      const hint = type === '(i32) -> ()' ? `, and returns neither a structure nor a future. ${NOTHING_TO_AWAIT}` : '';
      throw new PluginLoadError(`${says} exports ${hook} as ${type ?? entry.kind}: it is () -> i32${hint}`);
    }
    hooks.add(hook);
  }
  const start = byName.get(INITIALIZE);
  if (start && (!start.signature || describeSignature(start.signature) !== '() -> ()')) {
    throw new PluginLoadError(`${says} exports ${INITIALIZE} with another type than () -> ()`);
  }
  if (!hooks.has('init')) throw new PluginLoadError(`${says} does not export init`);
  checkType(plugin, says, hooks);
  checkStreams(plugin, says, hooks);
  return hooks;
}

function checkType(plugin: ArtifactPlugin, says: string, hooks: ReadonlySet<Hook>): void {
  const found = middlewareHooks.filter((hook) => hooks.has(hook));
  if (plugin.plugin_type === 'dispatcher') {
    if (!hooks.has('dispatch')) throw new PluginLoadError(`${says} is a dispatcher and does not export dispatch`);
    if (found.length > 0) {
      throw new PluginLoadError(`${says} is a dispatcher and exports ${found.join(', ')}, which belong to middlewares`);
    }
    return;
  }
  if (hooks.has('dispatch')) throw new PluginLoadError(`${says} is a middleware and exports dispatch`);
  if (found.length === 0) {
    throw new PluginLoadError(`${says} is a middleware and exports no hook: one of ${middlewareHooks.join(', ')}`);
  }
}

function checkStreams({ capabilities }: ArtifactPlugin, says: string, hooks: ReadonlySet<Hook>): void {
  for (const side of ['request', 'response'] as const) {
    const chunk = hooks.has(`on_${side}_chunk`);
    if (hooks.has(`on_${side}_end`) && !chunk) {
      throw new PluginLoadError(`${says} exports on_${side}_end without on_${side}_chunk`);
    }
    const body = `${side}_body` as const;
    if (chunk && capabilities[body] !== 'stream') {
      throw new PluginLoadError(
        `${says} exports on_${side}_chunk, which needs ${body} = "stream" under [capabilities] of its plugin.toml`,
      );
    }
  }
}
