/**
 * A program of the image as one script, with the code that V8 compiled of it when the image was built
 * (docs/decisions.md#code-cache): parsing and compiling modules is half of what starting costs.
 */
import type { Script } from 'node:vm';

/** Parameters of the function that the script is; `import.meta` of its modules is made of the last three. */
export const SCRIPT_PARAMETERS = ['require', 'programUrl', 'programFile', 'programFolder'] as const;

export const scriptOf = (program: string) => `${program}-script.js`;
export const cacheOf = (program: string) => `${program}-script.cache`;

export interface ProgramScript {
  readonly script: Script;
  run(): void;
}

/**
 * Reads a program out of the folder of this module. V8 refuses code of another version of Node.js, of other flags or of
 * another source, or that is damaged: the script is then compiled as any other.
 */
export function programScript(program: string, folder: string, url: string): ProgramScript {
  // Imports of these two would copy all that they export, and load streams and an HTTP client with it.
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  const { constants, Script } = process.getBuiltinModule('node:vm');
  const file = `${folder}/${scriptOf(program)}`;
  const cache = `${folder}/${cacheOf(program)}`;
  // Its characters are all ASCII (build-programs.ts): one byte each in memory.
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
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
      script.runInThisContext()(load, url, file, folder);
    },
  };
}
