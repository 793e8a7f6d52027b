/** Tries plugins and configs in a process of their own, within limits. */
import type { Inspected, PackageFault } from '@gw/gateway/plugin-check';
import type { ProblemError } from '../../errors.ts';
import { TaskLimitError, TaskProcess } from '../../task-process.ts';
import type { CheckResult, CheckTask } from './check-worker.ts';
import type { ConfigToCheck } from './project-config.ts';
import type { CheckedPackage } from './register-package.ts';

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker is beside it in both. */
const file = new URL(import.meta.url.endsWith('.ts') ? './check-worker.ts' : './check-worker.js', import.meta.url);

/** The start of the process counts, too. */
const LIMITS = { timeoutMs: 30_000, memoryMb: 512 };

export class PluginChecks {
  readonly #process = new TaskProcess<CheckTask, CheckResult>({ file, work: 'checking it' });

  /** Returns the declarations in the module's imports and exports, or why it is not a plugin. */
  async inspect(wasm: Uint8Array): Promise<Inspected> {
    const result = await this.#limited({ kind: 'inspect', wasm });
    if ('limit' in result) return { why: result.limit };
    if (result.kind !== 'inspect') throw mixedUp();
    return result.inspected;
  }

  /** Returns null if a gateway would load it. */
  async faultOf({ manifest, wasm, configSchema = null }: CheckedPackage): Promise<PackageFault | null> {
    const result = await this.#limited({ kind: 'package', manifest, wasm, configSchema });
    if ('limit' in result) return { file: 'module', message: result.limit };
    if (result.kind !== 'package') throw mixedUp();
    return result.fault;
  }

  /** Returns no faults if the config can be valid. */
  async faultsOfConfig(config: ConfigToCheck): Promise<readonly ProblemError[]> {
    const result = await this.#limited({ kind: 'config', ...config });
    if ('limit' in result) return [{ pointer: '/config', message: result.limit }];
    if (result.kind !== 'config') throw mixedUp();
    return result.faults;
  }

  /** Ends the process; it does not keep the calling process alive. */
  close(): Promise<void> {
    return this.#process.close();
  }

  async #limited(task: CheckTask): Promise<CheckResult | { readonly limit: string }> {
    try {
      return await this.#process.run(() => task, LIMITS);
    } catch (error) {
      if (!(error instanceof TaskLimitError)) throw error;
      return { limit: error.message };
    }
  }
}

const mixedUp = (): Error => new Error('the process answered another question than it was asked');
