/** The process in which plugins and configs of strangers are tried: modules run in it, and patterns of schemas. */
import type { PluginManifest, ProjectPlugin } from '@gw/gateway/compiler';
import { faultOfPackage, type Inspected, inspectModule, type PackageFault } from '@gw/gateway/plugin-check';
import type { ProblemError } from '../../errors.ts';
import { answerTasks } from '../../task-process.ts';
import { type ConfigToCheck, faultsOfConfig } from './project-config.ts';

export type CheckTask =
  | { readonly kind: 'inspect'; readonly wasm: Uint8Array }
  | {
      readonly kind: 'package';
      readonly manifest: PluginManifest;
      readonly wasm: Uint8Array;
      readonly configSchema: ProjectPlugin['configSchema'] | null;
    }
  | ({ readonly kind: 'config' } & ConfigToCheck);

export type CheckResult =
  | { readonly kind: 'inspect'; readonly inspected: Inspected }
  | { readonly kind: 'package'; readonly fault: PackageFault | null }
  | { readonly kind: 'config'; readonly faults: readonly ProblemError[] };

async function check(task: CheckTask): Promise<CheckResult> {
  switch (task.kind) {
    case 'inspect':
      return { kind: 'inspect', inspected: inspectModule(task.wasm) };
    case 'package': {
      const { manifest, wasm, configSchema } = task;
      const fault = await faultOfPackage(manifest, { wasm, ...(configSchema ? { configSchema } : {}) });
      return { kind: 'package', fault };
    }
    case 'config':
      return { kind: 'config', faults: await faultsOfConfig(task) };
  }
}

answerTasks<CheckTask, CheckResult>(check);
