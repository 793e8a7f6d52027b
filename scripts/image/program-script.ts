/**
 * A program of the image as one script, with the code that V8 compiled of it when the image was built
 * (docs/decisions.md#code-cache): parsing and compiling modules is half of what starting costs.
 */
import type { Script } from 'node:vm';
import { keepRequestsYoung } from '../../gateway/src/process/young-generation.ts';

/** Parameters of the function that the script is; `import.meta` of its modules is made of the last three. */
export const SCRIPT_PARAMETERS = ['require', 'programUrl', 'programFile', 'programFolder'] as const;

export const scriptOf = (program: string) => `${program}-script.js`;
export const codeOf = (program: string) => `${program}-script.code`;

/** Bytes before the code: CRC-32 of the source and of the code. V8 looks at neither, and ends the process over bad code. */
const SUMS = 8;

export interface ProgramScript {
  readonly script: Script;
  run(): void;
}

/**
 * Reads a program out of a folder. Code of another version of Node.js, of other flags or of another source, or that is
 * damaged, is not used: the script is then compiled as any other.
 */
export function programScript(program: string, folder: string, url: string): ProgramScript {
  // Imports of these two would copy all that they export, and load streams and an HTTP client with it.
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const { constants, Script } = process.getBuiltinModule('node:vm');
  // The program's settings of V8, which takes code that was compiled under the same only.
  keepRequestsYoung();
  const file = `${folder}/${scriptOf(program)}`;
  const source = readFileSync(file);
  const cachedData = keptCode(`${folder}/${codeOf(program)}`, source);
  // Its characters are all ASCII (build-programs.ts): one byte each in memory.
  const script = new Script(source.toString('latin1'), {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return {
    script,
    run: () => {
      let require: NodeJS.Require | null = null;
      const load = (id: string): unknown => {
        const builtin = process.getBuiltinModule(id);
        if (builtin !== undefined) return builtin;
        require ??= process.getBuiltinModule('node:module').createRequire(url);
        return require(id);
      };
      withoutWarningOfLoader();
      script.runInThisContext()(load, url, file, folder);
    },
  };
}

/** Node.js would warn, at the first import of a file, that scripts may import files: users can do nothing about it. */
function withoutWarningOfLoader(): void {
  const { emitWarning } = process;
  process.emitWarning = (...given: unknown[]) => {
    const isOurs = String(given[0]).startsWith('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER');
    if (!isOurs) Reflect.apply(emitWarning, process, given);
  };
}

/** Returns null if the file is missing, damaged, or made of another source. */
function keptCode(file: string, source: Uint8Array): Buffer | null {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  const code = bytes.subarray(SUMS);
  return code.length > 0 && bytes.subarray(0, SUMS).equals(sumsOf(source, code)) ? code : null;
}

/** Returns the file of compiled code of a source. */
export function codeFile(source: Uint8Array, code: Uint8Array): Buffer {
  return Buffer.concat([sumsOf(source, code), code]);
}

function sumsOf(source: Uint8Array, code: Uint8Array): Buffer {
  const { crc32 } = process.getBuiltinModule('node:zlib');
  const sums = Buffer.alloc(SUMS);
  sums.writeUInt32LE(crc32(source), 0);
  sums.writeUInt32LE(crc32(code), 4);
  return sums;
}
