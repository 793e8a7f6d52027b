/**
 * `@gw/control`: compiles projects in a worker thread, within limits of time and memory, as the control plane and the
 * operator do: for programs that compile what others wrote.
 *
 * @example
 * const result = await compileProject({ specs: ['shop.yaml'], files, plugins, flags: {} }, { timeoutMs: 10_000 });
 * await closeCompiler();
 */
export type { CompileResult, Diagnostic, Project, ProjectFile, ProjectPlugin } from '@gw/gateway/compiler';
export { type CompileOptions, closeCompiler, compileProject } from '../compile.ts';
