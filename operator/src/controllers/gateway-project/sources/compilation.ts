/** Compiles a project, once for each change of its inputs. */
import { createHash } from 'node:crypto';
import { compileProject } from '@gw/control';
import type { Project } from '@gw/gateway/compiler';
import type { StatusDiagnostic } from '../../../api/shared.ts';

const MAX_TEXT = 1000;

export type Compilation =
  | {
      readonly ok: true;
      /** The bytes of the .gwa. */
      readonly archive: Uint8Array;
      readonly artifactHash: string;
      /** sha256 of the archive's tar, in hex. */
      readonly tarSha256: string;
      readonly diagnostics: readonly StatusDiagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: readonly StatusDiagnostic[] };

export interface CompilationEvents {
  onCompiled(seconds: number, ok: boolean): void;
  /** Called with the current inputs of a project and their result. */
  onInputs?(key: string, inputs: Project, result: Extract<Compilation, { readonly ok: true }>): void;
}

/** The last compilation of each project: a reconcile for any other reason does not compile. */
export class Compilations {
  readonly #last = new Map<string, { readonly digest: string; readonly result: Compilation }>();
  readonly #events: CompilationEvents;

  constructor(events: CompilationEvents) {
    this.#events = events;
  }

  /** `key` is the project's; forgotten with `forget`. Never throws because of the inputs. */
  async compile(key: string, inputs: Project): Promise<Compilation> {
    const digest = digestOf(inputs);
    const last = this.#last.get(key);
    if (last?.digest === digest) return last.result;
    const started = performance.now();
    const result = await compile(inputs, key.slice(0, key.indexOf('/')));
    this.#events.onCompiled((performance.now() - started) / 1000, result.ok);
    this.#last.set(key, { digest, result });
    if (result.ok) this.#events.onInputs?.(key, inputs, result);
    return result;
  }

  forget(key: string): void {
    this.#last.delete(key);
  }
}

async function compile(inputs: Project, namespace: string): Promise<Compilation> {
  const result = await compileProject(inputs, { owner: namespace });
  const diagnostics = result.diagnostics.map(({ code, severity, message, hint, file, pointer, line, column }) => {
    const apiSpec = file?.includes('/') ? file.slice(0, file.indexOf('/')) : undefined;
    return {
      code,
      severity,
      message: short(message),
      ...(hint ? { hint: short(hint) } : {}),
      ...(apiSpec === undefined ? {} : { apiSpec }),
      ...(file ? { file: apiSpec === undefined ? file : file.slice(apiSpec.length + 1) } : {}),
      ...(pointer ? { pointer: short(pointer) } : {}),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    };
  });
  if (!result.ok) return { ok: false, diagnostics };
  return {
    ok: true,
    archive: result.artifact,
    artifactHash: result.artifactHash,
    tarSha256: result.tarSha256.replace(/^sha256:/, ''),
    diagnostics,
  };
}

/** Shortens a text: fifty of them must fit into a status, for any document. */
function short(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}

/** Hashes all inputs of a compilation; bytes by their hash, so that a large project is not copied. */
function digestOf({ files, plugins, ...rest }: Project): string {
  const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
  return sha256(
    JSON.stringify({
      ...rest,
      files: files.map(({ name, bytes }) => [name, sha256(bytes)]),
      plugins: plugins.map(({ wasm, ...plugin }) => [plugin, sha256(wasm)]),
    }),
  );
}
