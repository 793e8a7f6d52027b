/** Versions of specifications as documents state them. YAML reads `3.1` as a number, and `3.0` as 3. */

export type SpecType = 'openapi' | 'asyncapi';

/** The newest patch of each version; AsyncAPI has not had one yet. */
const NEWEST_PATCH: Readonly<Record<string, string>> = { '3.0': '3.0.4', '3.1': '3.1.2', '3.2': '3.2.0' };
const FULL: Readonly<Record<SpecType, RegExp>> = {
  openapi: /^3\.[012]\.\d+(-.+)?$/,
  asyncapi: /^3\.\d+\.\d+(-.+)?$/,
};

/** Returns the version with its patch number, by default the newest; null if gw does not read it. */
export function fullVersion(type: SpecType, stated: unknown): string | null {
  if (typeof stated === 'string' && FULL[type].test(stated)) return stated;
  const short = typeof stated === 'number' && Number(stated.toFixed(1)) === stated ? stated.toFixed(1) : stated;
  if (typeof short !== 'string' || !/^3\.\d+$/.test(short)) return null;
  return type === 'asyncapi' ? `${short}.0` : (NEWEST_PATCH[short] ?? null);
}
