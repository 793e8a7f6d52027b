/** A worker thread that compiles projects one after the other, within limits. */
import type { CompileResult, Project } from '@gw/gateway/compiler';
import { type WorkerLimits, WorkerThread } from './worker-thread.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker lies beside it either way. */
const file = new URL(import.meta.url.endsWith('.ts') ? './compile-worker.ts' : './compile-worker.js', import.meta.url);

export class CompileThread {
  readonly #thread = new WorkerThread<Project, CompileResult>({ file, name: 'gw-compile', work: 'compiling' });

  /** `owner`: those of different ones take turns. Rejects with WorkerLimitError, or with an Error for a defect of the compiler. */
  compile(project: Project, limits: WorkerLimits, owner = ''): Promise<CompileResult> {
    return this.#thread.run(() => project, limits, owner);
  }

  /** Ends the thread; what waits is rejected. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}
