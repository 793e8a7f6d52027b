/** The entry of the compiler for the other parts of gw; users import `public/compiler.ts`. */
import { FEATURES } from '../../features/features.ts';
import { type CompileOptions, type CompileResult, compileWith } from './compile.ts';
import type { Project } from './project.ts';

export { pluginPackageOf, readPluginArchive } from '../plugins/archive.ts';
export { builtinPluginFiles, builtinPlugins, loadBuiltinPlugin } from '../plugins/builtin.ts';
export { type PluginPackage, PluginPackageError, readPluginPackage } from '../plugins/package.ts';
export { ArchiveError, isGzip, isTar, repack, unpack } from '../plugins/unpack.ts';
export type { Diagnostic } from '../spec/diagnostic.ts';
export { ERROR_CODES, type ErrorCode, type Severity } from '../spec/error-codes.ts';
export type { InheritedRoute } from './check.ts';
export type { CompileOptions, CompileResult } from './compile.ts';
export {
  type DescribedOperation,
  type DescribedUse,
  describeSpec,
  type SpecDescription,
  type SpecResult,
  specsAmong,
} from './describe.ts';
export type { LeftOutOperation } from './left-out.ts';
export { mcpFaults } from './mcp-upstreams.ts';
export type {
  CompileFlags,
  PluginManifest,
  Project,
  ProjectFile,
  ProjectPlugin,
} from './project.ts';

/** Compiles a project into an artifact; its faults are diagnostics, never thrown. */
export function compile(project: Project, options?: CompileOptions): Promise<CompileResult> {
  return compileWith(FEATURES, project, options);
}
