/** The control plane as a library. */
export type { CompileResult, Diagnostic, Project, ProjectFile, ProjectPlugin } from '@gw/gateway/compiler';
export { type CompileOptions, closeCompiler, compileProject } from './compile.ts';
export { projectFiles, specFiles } from './modules/specs/read-upload.ts';
