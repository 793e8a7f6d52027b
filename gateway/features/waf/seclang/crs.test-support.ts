/** The Core Rule Set in `../crs`, for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecLangFile } from './parse.ts';

export const CRS = join(import.meta.dirname, '..', 'crs');
const RULES = '@owasp_crs';

function file(name: string): SecLangFile {
  return { name, bytes: readFileSync(join(CRS, name)) };
}

/** The setup and the rules, in the order in which they run. */
export function coreFiles(): readonly SecLangFile[] {
  const names = readdirSync(join(CRS, RULES)).filter((name) => name.endsWith('.conf'));
  return [file('@crs-setup.conf.example'), ...names.sort().map((name) => file(`${RULES}/${name}`))];
}

/** Rules that read bodies, which CRS expects before its own. */
export function recommendedFile(): SecLangFile {
  return file('@coraza.conf-recommended');
}

export function readCoreData(name: string): Uint8Array | undefined {
  return name.endsWith('.data') ? readFileSync(join(CRS, RULES, name)) : undefined;
}
