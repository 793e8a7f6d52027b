/** A spec as its page has loaded it, for the views of the page. */
import type { Spec, SpecRevision } from '../../api/types.ts';

export interface SpecState {
  readonly spec: Spec;
  readonly etag: string | null;
  /** The newest first. */
  readonly revisions: readonly SpecRevision[];
}
