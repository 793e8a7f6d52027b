import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** A program as tests start it: out of the folder that GW_TEST_PROGRAMS names, which `npm test` bundles, or from source. */
export function program(name: string, source: string): string {
  const { GW_TEST_PROGRAMS } = process.env;
  return GW_TEST_PROGRAMS ? join(GW_TEST_PROGRAMS, `${name}.js`) : join(ROOT, source);
}

/** What programs of tests have in their environment: none of the machine's variables but these. */
export function programEnv(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}
