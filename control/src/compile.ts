/** The library call that every door of the control plane shares: a project in, an artifact or diagnostics out. */
import { type CompileResult, type Diagnostic, ERROR_CODES, type Project } from '@gw/gateway/compiler';
import { CompileLimitError, CompileThread } from './compile-thread.ts';

export interface CompileOptions {
  /** Milliseconds that a project may take; default 60,000. */
  readonly timeoutMs?: number;
  /** MiB of heap that it may take; default 1024. */
  readonly memoryMb?: number;
}

const thread = new CompileThread();

/**
 * Compiles off the event loop, with the gateway's own compiler: equal projects give the `artifact_hash` that
 * `gw compile` gives. A project that takes too long or too much memory is E1005, like any other fault of its
 * documents. Rejects only for a defect of the compiler; the next call works all the same.
 */
export async function compileProject(inputs: Project, options: CompileOptions = {}): Promise<CompileResult> {
  const { timeoutMs = 60_000, memoryMb = 1024 } = options;
  try {
    return await thread.compile(inputs, { timeoutMs, memoryMb });
  } catch (error) {
    if (!(error instanceof CompileLimitError)) throw error;
    const { severity, hint } = ERROR_CODES.E1005;
    const diagnostic: Diagnostic = { code: 'E1005', severity, message: error.message, hint };
    return { ok: false, diagnostics: [diagnostic] };
  }
}

/** Ends the thread at shutdown; it does not keep a process alive by itself. */
export function closeCompiler(): Promise<void> {
  return thread.close();
}
