/** docs/host-functions.md, from the registry of host functions. */
import { signatureOf } from '../src/wasm/abi.ts';
import type { HostFunctionInfo } from '../src/wasm/call/host-function.ts';
import { ABI_MODULE } from '../src/wasm/host/host-functions.ts';
import { HOST_FUNCTIONS } from './host-functions.ts';

export function renderHostFunctions(): string {
  const all = [...HOST_FUNCTIONS].sort(([one], [other]) => (one < other ? -1 : 1));
  const always = all.filter(([, { declared }]) => !declared);
  const declared = all.filter(([, each]) => each.declared);
  return `# Host functions

Generated from the registry: what plugins can import from \`${ABI_MODULE}\`, version 1 of the ABI. [ABI.md](../gateway/sdk/ABI.md) describes each function and its parameters; the SDK has a function for each. A function that may wait suspends the plugin meanwhile, and other requests continue.

## Always there

${table(always)}
## To be declared

Under \`[capabilities]\` of \`plugin.toml\`, in \`host_functions\`: a module that imports one without that does not load.

${table(declared)}`;
}

function table(functions: readonly (readonly [string, HostFunctionInfo])[]): string {
  const rows = functions.map(
    ([name, fn]) =>
      `| \`${name}\` | \`${signatureOf(fn)}\` | ${fn.waits ? 'yes' : ''} | ${fn.body ? `\`${fn.body} = "buffer"\`` : ''} |`,
  );
  return `| function | type | may wait | needs |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}
