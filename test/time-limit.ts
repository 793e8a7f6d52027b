/** Runs one case of a property test, and fails where it takes so long that an attacker could make use of it. */
export function inTime<T>(run: () => T, mostMs = 500): T {
  const from = performance.now();
  const result = run();
  const elapsed = performance.now() - from;
  if (elapsed <= mostMs) return result;
  // What the machine did meanwhile is no fault of ours: that is not so slow twice.
  const again = performance.now();
  run();
  const repeated = performance.now() - again;
  if (repeated > mostMs) throw new Error(`one case took ${Math.round(elapsed)} ms, then ${Math.round(repeated)} ms`);
  return result;
}
