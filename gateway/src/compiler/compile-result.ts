/** Options and result of the compiler. */
import type { Manifest } from '../artifact/format.ts';
import type { Diagnostic } from '../spec/diagnostic.ts';
import type { InheritedRoute } from './check.ts';
import type { LeftOutOperation } from './left-out-operations.ts';

export type CompileResult =
  | {
      readonly ok: true;
      /** The bytes of the .gwa. */
      readonly artifact: Uint8Array;
      /** `sha256:<hex>`. */
      readonly artifactHash: string;
      /** Hex sha256 of the tar. */
      readonly tarSha256: string;
      readonly manifest: Manifest;
      /** Operations that became a route, or a tool, by an inherited `x-gw-dispatch`. */
      readonly inherited: readonly InheritedRoute[];
      /** Operations that are not served because of an error (`CompileFlags.leaveOut`). */
      readonly leftOut: readonly LeftOutOperation[];
      /** Warnings; with `leaveOut` also former errors. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export interface CompileOptions {
  /**
   * Loads the modules as serving does, so that a module that serving would refuse is a diagnostic. Default: true.
   *
   * @example { loadsPlugins: false } // for quick feedback on documents: modules are trusted as they are
   */
  readonly loadsPlugins?: boolean;
  /**
   * Called with the name of each file that a reference names, and that the project lacks. Default: no call.
   *
   * @example (name) => watch(join(folder, name))
   */
  readonly missing?: (name: string) => void;
}
