/** A parsed file of a project. */
export interface Document {
  /** Name in the project. */
  readonly file: string;
  readonly value: unknown;
}
