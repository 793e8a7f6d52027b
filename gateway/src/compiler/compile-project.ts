/** The compiler with the features of gw. */
import { FEATURES } from '../../features/features.ts';
import { compileWith } from './compile.ts';
import type { CompileOptions, CompileResult } from './compile-result.ts';
import type { Project } from './project/project.ts';

/** Compiles a project into an artifact; its faults are diagnostics, never thrown. */
export function compile(project: Project, options?: CompileOptions): Promise<CompileResult> {
  return compileWith(FEATURES, project, options);
}
