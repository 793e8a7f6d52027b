/** The entry of the compiler for the other parts of gw; users import `public/compiler.ts`. */

export { pluginPackageOf, readPluginArchive } from '../plugins/archive.ts';
export { builtinPluginFiles, builtinPlugins, loadBuiltinPlugin } from '../plugins/builtin.ts';
export { type PluginPackage, PluginPackageError, readPluginPackage } from '../plugins/package.ts';
export { ArchiveError, isGzip, isTar, repack, unpack } from '../plugins/unpack.ts';
export type { Diagnostic } from '../spec/diagnostic.ts';
export { ERROR_CODES } from '../spec/error-codes.ts';
export type { InheritedRoute } from './check.ts';
export { compile } from './compile-project.ts';
export type { CompileOptions, CompileResult } from './compile-result.ts';
export {
  type DescribedOperation,
  describeSpec,
  type SpecDescription,
  specsAmong,
} from './describe.ts';
export type { LeftOutOperation } from './left-out-operations.ts';
export type {
  CompileFlags,
  PluginManifest,
  Project,
  ProjectFile,
  ProjectPlugin,
} from './project/project.ts';
export { isProjectFile } from './project/project-files.ts';
export { mcpFaults } from './tools/mcp-upstreams.ts';
