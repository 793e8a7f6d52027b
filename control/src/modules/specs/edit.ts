/** An edit of a document in place, in JSON or YAML. */

/** Members of one object; undefined removes one. */
export interface Edit {
  readonly pointer: string;
  readonly changes: readonly (readonly [key: string, value: unknown])[];
}
