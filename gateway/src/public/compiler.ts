/**
 * `@gw/gateway/compiler`: compiles a project in this process, as `gw compile` does.
 *
 * @example
 * const plugins = [loadBuiltinPlugin('mock')];
 * const files = [{ name: 'shop.yaml', bytes: await readFile('shop.yaml') }];
 * const result = await compile({ specs: ['shop.yaml'], files, plugins, flags: {} });
 * if (result.ok) await writeFile('shop.gwa', result.artifact);
 * else for (const { code, file, line, message } of result.diagnostics) console.error(code, file, line, message);
 */
export type {
  ArtifactPlugin,
  BodyAccess,
  Json,
  JsonObject,
  Manifest,
  PluginType,
  SourceSpec,
} from '../artifact/format.ts';
export { compile } from '../compiler/compile-project.ts';
export type { CompileOptions, CompileResult } from '../compiler/compile-result.ts';
export type { CompileFlags, PluginManifest, Project, ProjectFile, ProjectPlugin } from '../compiler/project/project.ts';
export { readPluginArchive } from '../plugins/archive.ts';
export { builtinPlugins, loadBuiltinPlugin } from '../plugins/builtin.ts';
export { type PluginPackage, PluginPackageError, readPluginPackage } from '../plugins/package.ts';
export type { Diagnostic } from '../spec/diagnostic.ts';
export { ERROR_CODES, type ErrorCode, type Severity } from '../spec/error-codes.ts';
