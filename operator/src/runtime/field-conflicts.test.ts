import { describe, expect, it } from 'vitest';
import { ApiError } from './api-server.ts';
import { conflictOf, FieldConflicts } from './field-conflicts.ts';

const cause = {
  reason: 'FieldManagerConflict',
  message: 'conflict with "kubectl-edit" using apps/v1',
  field: '.spec.x',
};
const other = { manager: 'kubectl-edit', fields: ['.spec.x'] };

describe('a conflict of fields', () => {
  it('is told from other refusals', () => {
    const refused = (status: number, details: unknown) =>
      new ApiError(status, 'Conflict', 'no', undefined, { details });
    expect(conflictOf(refused(409, { causes: [cause] }))).toEqual(other);
    expect(conflictOf(refused(409, { causes: [{ reason: 'Other' }] }))).toBeUndefined();
    expect(conflictOf(refused(409, undefined))).toBeUndefined();
    expect(conflictOf(refused(422, { causes: [cause] }))).toBeUndefined();
    expect(conflictOf(new Error('no'))).toBeUndefined();
  });

  it('is settled at once three times, and then ever later, so that nobody is fought in a loop', () => {
    let now = 1_000_000;
    const conflicts = new FieldConflicts(() => now);
    let writes = 0;
    // Another manager that takes the field back within a second, for an hour.
    for (const end = now + 3_600_000; now < end; now += 1000) {
      if (conflicts.left('x')) continue;
      writes++;
      conflicts.taken('x', other);
    }
    expect(writes).toBeGreaterThan(5);
    expect(writes).toBeLessThan(15);
    expect(conflicts.left('x')).toMatchObject({ manager: 'kubectl-edit', fields: ['.spec.x'], left: true });
    now += 3_600_000;
    expect(conflicts.left('x')).toBeUndefined();
    expect(conflicts.taken('x', other)).toMatchObject({ times: 1, left: false });
  });
});
