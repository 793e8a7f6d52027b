/** A part of a directive cannot be read: thrown where it is found, reported once for each directive. */
export class PartFault extends Error {
  /** In the text of the part. */
  readonly offset: number;
  readonly hint: string;

  constructor(offset: number, message: string, hint: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

/** Reads a part of a larger text, and moves the place of its faults. */
export function within<T>(offset: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PartFault) throw new PartFault(offset + error.offset, error.message, error.hint);
    throw error;
  }
}
