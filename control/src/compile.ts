/** The library call that all interfaces of the control plane share: a project in, an artifact or diagnostics out. */
import { type CompileResult, type Diagnostic, ERROR_CODES, type Project } from '@gw/gateway/compiler';
import { CompileProcess } from './compile-process.ts';
import { TaskLimitError } from './task-process.ts';

export interface CompileOptions {
  /**
   * Milliseconds that a project may take; past them it fails with E1005. Default: 60,000.
   *
   * @example 10_000
   */
  readonly timeoutMs?: number;
  /**
   * MiB of heap that it may take, and 512 MiB more of memory in all; past them it fails with E1005. Default: 1024.
   *
   * @example 256
   */
  readonly memoryMb?: number;
  /**
   * For whom, such as a namespace or project: those of different ones take turns. Default: one for all.
   *
   * @example 'team-shop'
   */
  readonly owner?: string;
}

const compiler = new CompileProcess();

/**
 * Compiles off the event loop, with the gateway's own compiler: equal projects give the `artifact_hash` that
 * `gw compile` gives. A project that takes too long or too much memory is E1005, like any other fault of its
 * documents. Rejects only for a defect of the compiler; the next call works all the same.
 */
export function compileProject(inputs: Project, options: CompileOptions = {}): Promise<CompileResult> {
  return compileOn(compiler, inputs, options);
}

/** As compileProject, in the caller's process. */
export async function compileOn(
  on: CompileProcess,
  inputs: Project,
  { timeoutMs = 60_000, memoryMb = 1024, owner = '' }: CompileOptions = {},
): Promise<CompileResult> {
  try {
    return await on.compile(inputs, { timeoutMs, memoryMb }, owner);
  } catch (error) {
    if (!(error instanceof TaskLimitError)) throw error;
    const { severity, hint } = ERROR_CODES.E1005;
    const diagnostic: Diagnostic = { code: 'E1005', severity, message: error.message, hint };
    return { ok: false, diagnostics: [diagnostic] };
  }
}

/** Ends the process at shutdown; it does not keep the calling process alive. */
export function closeCompiler(): Promise<void> {
  return compiler.close();
}
