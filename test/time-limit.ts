/** CPU time of this thread in milliseconds: what else the machine does meanwhile is no fault of ours. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Runs one case of a property test, and fails where it takes so long that an attacker could make use of it. */
export function inTime<T>(run: () => T, mostMs = 1000): T {
  const from = cpuMs();
  const result = run();
  const elapsed = cpuMs() - from;
  if (elapsed <= mostMs) return result;
  // Compiling and collecting count for whoever comes first: that is not so slow twice.
  const again = cpuMs();
  run();
  const repeated = cpuMs() - again;
  if (repeated > mostMs) throw new Error(`one case took ${Math.round(elapsed)} ms, then ${Math.round(repeated)} ms`);
  return result;
}
