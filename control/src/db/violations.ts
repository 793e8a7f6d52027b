/** Constraint violations: unique names and references, identified by the constraints' names in migrations/. */

interface Violation {
  readonly code: string;
  readonly constraint: string;
}

/** Returns the constraint that a statement broke; null for any other error. */
export function violatedConstraint(error: unknown): string | null {
  const { code, constraint } = error as Partial<Violation>;
  const isViolation = code === '23505' || code === '23503';
  return isViolation && typeof constraint === 'string' ? constraint : null;
}
