/** The end of CustomResourceDefinitions that are being deleted. */
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';

/**
 * Waits until they are gone, such as `crd/apispecs.gw.dev`. An API server cannot list the objects of a kind while it
 * makes its store; then it tries again after minutes, or when something of the kind changes: so that is what is done.
 */
export async function kindsGone(
  kubectl: (...args: readonly string[]) => Promise<string>,
  names: readonly string[],
): Promise<void> {
  let looks = 0;
  await eventually(async () => {
    const left = (await kubectl('get', ...names, '--ignore-not-found', '-o', 'name')).split('\n').filter(Boolean);
    // One that goes in between is what is waited for.
    if (left.length > 0)
      await kubectl('annotate', '--overwrite', ...left, `gw.dev/looked-at=${++looks}`).catch(() => '');
    expect(left).toEqual([]);
  });
}
