import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** A program as tests start it: out of the folder that GW_TEST_PROGRAMS names, which `npm test` bundles, or from source. */
export function program(name: string, source: string): string {
  const { GW_TEST_PROGRAMS } = process.env;
  return GW_TEST_PROGRAMS ? join(GW_TEST_PROGRAMS, `${name}.js`) : join(ROOT, source);
}
