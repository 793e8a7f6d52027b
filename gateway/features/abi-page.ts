/** Documentation of capabilities for authors of plugins: their rows of ABI.md, and the imports of the SDK. */

import type { CapabilityFunctionInfo } from '../src/capability/capability.ts';
import { ABI_MODULE } from '../src/wasm/host/host-functions.ts';
import { CAPABILITIES } from './capabilities.ts';

const FUNCTIONS = CAPABILITIES.flatMap(({ functions }) => Object.entries(functions));

export function renderAbiRows(): string {
  const rows = FUNCTIONS.map(
    ([name, { parameters, meaning, waits }]) =>
      `| \`${name}\`${waits ? ' →' : ''} | \`${parameters}\` | ${meaning} |\n`,
  );
  return `\n| import | signature | meaning |\n| --- | --- | --- |\n${rows.join('')}\n`;
}

/** Declarations of AssemblyScript. */
export function renderSdkImports(): string {
  return FUNCTIONS.map(
    ([name, each]) =>
      `@external("${ABI_MODULE}", "${name}") export declare function ${name}(${parametersOf(each)}): ${resultOf(each)};\n`,
  ).join('');
}

/** A pointer is followed by its length or capacity, or is written to. */
function parametersOf({ parameters, signature }: CapabilityFunctionInfo): string {
  const names = /^\((.*?)\)/.exec(parameters)?.[1]?.split(', ').filter(Boolean) ?? [];
  return names
    .map((name, i) => {
      if (name === 'len') return `${names[i - 1]}_len: i32`;
      const next = names[i + 1];
      const isPointer = next === 'len' || next === 'cap' || name === 'out';
      return `${name}: ${isPointer ? 'usize' : signature[i] === 'd' ? 'f64' : 'i32'}`;
    })
    .join(', ');
}

function resultOf({ signature }: CapabilityFunctionInfo): string {
  const [, result = ''] = signature.split(':');
  return result === '' ? 'void' : result === 'd' ? 'f64' : 'i32';
}
