/** A process that compiles projects one after the other, within limits. */
import type { CompileResult, Project } from '@gw/gateway/compiler';
import { type TaskLimits, TaskProcess } from './task-process.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker is beside it in both. */
const file = new URL(import.meta.url.endsWith('.ts') ? './compile-worker.ts' : './compile-worker.js', import.meta.url);

export class CompileProcess {
  readonly #process = new TaskProcess<Project, CompileResult>({ file, work: 'compiling' });

  /** `owner`: those of different ones take turns. Rejects with TaskLimitError, or with an Error for a defect of the compiler. */
  compile(project: Project, limits: TaskLimits, owner = ''): Promise<CompileResult> {
    return this.#process.run(() => project, limits, owner);
  }

  /** Ends the process; rejects waiting tasks. */
  close(): Promise<void> {
    return this.#process.close();
  }
}
