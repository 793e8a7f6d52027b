/** Whether a project's config of a plugin can be right: with the compiler's own checks, before anything uses it. */
import { compile, type PluginManifest, type Project, type ProjectPlugin } from '@gw/gateway/compiler';
import type { ProblemError } from '../../errors.ts';

type Config = NonNullable<ProjectPlugin['config']>;
type Schema = NonNullable<ProjectPlugin['configSchema']>;

export interface ConfigToCheck {
  readonly manifest: PluginManifest;
  readonly configSchema: Schema | null;
  readonly config: Config;
}

/**
 * Keywords that depend on the whole config, which an operation's config can still change: it overrides the project's
 * (docs/decisions.md#one-project).
 */
const OF_THE_WHOLE = new Set([
  ...['required', 'minProperties', 'dependentRequired', 'dependentSchemas', 'dependencies', 'unevaluatedProperties'],
  ...['anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'const', 'enum', '$ref', '$dynamicRef'],
]);

/** The smallest module, which is not loaded: only the config is checked. */
const MODULE = new Uint8Array([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);

/** Codes of faults in a config by itself; the other codes are about documents, other plugins and upstreams. */
const OF_THE_CONFIG: ReadonlySet<string> = new Set(['E1005', 'E1030', 'E1032', 'E1042']);

/**
 * Returns faults with pointers into the config. Each property must be valid by itself; the compiler checks all
 * together, including required ones, since operations may add to them.
 */
export async function faultsOfConfig({ manifest, configSchema, config }: ConfigToCheck): Promise<ProblemError[]> {
  const { name, type } = manifest;
  const use = { name, config };
  const other = `${name}-answer`;
  const isDispatcher = type === 'dispatcher';
  const operation = {
    responses: { 200: { description: 'Any' } },
    ...(isDispatcher
      ? { 'x-gw-dispatch': use }
      : { 'x-gw-middlewares': [use], 'x-gw-dispatch': { name: other, config: {} } }),
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A config', version: '1.0.0' },
    paths: { '/': { get: operation } },
  };
  const schema = configSchema ? { configSchema: ofSingleProperties(configSchema) } : {};
  const project: Project = {
    specs: ['config.json'],
    files: [{ name: 'config.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: [
      { name, manifest, wasm: MODULE, ...schema },
      { name: other, manifest: { ...manifest, name: other, type: 'dispatcher' }, wasm: MODULE, configSchema: {} },
    ],
    flags: { allowPlaintext: true },
  };
  const { diagnostics } = await compile(project, { loadsPlugins: false });
  const base = `/paths/~1/get/x-gw-${isDispatcher ? 'dispatch' : 'middlewares/0'}/config`;
  return diagnostics
    .filter(({ severity, code }) => severity === 'error' && OF_THE_CONFIG.has(code))
    .map(({ code, message, pointer = '' }) => ({
      pointer: pointer.startsWith(`${base}/`) ? `/config${pointer.slice(base.length)}` : '/config',
      message: `${message.replace(`plugin "${name}": `, '')} (${code})`,
    }));
}

function ofSingleProperties(schema: Schema): Schema {
  const entries = Object.entries(schema).filter(([keyword]) => !OF_THE_WHOLE.has(keyword));
  return Object.fromEntries(
    entries.map(([keyword, value]) => [
      keyword,
      keyword === 'allOf' && Array.isArray(value)
        ? value.map((each: Schema[string]) => (isSchema(each) ? ofSingleProperties(each) : each))
        : value,
    ]),
  );
}

function isSchema(value: Schema[string] | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
