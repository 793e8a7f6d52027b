/** A document that is being written, and one that the server refused. */
import type { ApiError } from '../../../src/client/api-error.ts';
import type { Diagnostic } from '../../api/types.ts';
import type { KeptDraft } from '../../editor/drafts.ts';

export interface Draft extends KeptDraft {
  /** Null for a document that is not a spec yet. */
  readonly specId: string | null;
  /** It was written before, and kept. */
  readonly isKept?: boolean;
  /** Diagnostics of the revision that the draft began from. */
  readonly known?: readonly Diagnostic[];
}

export interface Refused extends Draft {
  readonly error: ApiError;
}
