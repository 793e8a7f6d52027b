import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { bodyWith } from './request-body.ts';

describe('a body with further members', () => {
  it('has them and all others, whose bytes stay as they are where the names are new', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    const check = fc.property(objects, objects, fc.constantFrom('', ' ', '\n\t'), (has, gets, space) => {
      const text = `${space}${JSON.stringify(has)}${space}`;
      const changed = Buffer.from(bodyWith(Buffer.from(text), has, gets)).toString();
      expect(JSON.parse(changed)).toEqual(JSON.parse(JSON.stringify({ ...has, ...gets })));
      const isNew = Object.keys(gets).every((name) => !Object.hasOwn(has, name));
      if (isNew) expect(changed.endsWith(text.trimStart().slice(1))).toBe(true);
    });
    fc.assert(check, propertyRuns(300));
  });
});
