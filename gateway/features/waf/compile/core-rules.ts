/** The OWASP Core Rule Set and its exclusion packages, which come with the gateway (`../crs`). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ParsedFile } from '../seclang/model.ts';
import { parseSecLang } from '../seclang/parse.ts';

const IN_SOURCES = import.meta.filename.endsWith('.ts');
/** In the source tree, otherwise beside the bundle that contains this file. */
const FOLDER = join(import.meta.dirname, ...(IN_SOURCES ? ['..', 'crs'] : ['crs']));
const RULES = '@owasp_crs';
const READERS = '@coraza.conf-recommended';
const SETUP = '@crs-setup.conf.example';
const PLUGINS = 'plugins';

export interface CoreRules {
  /** Rules that choose how a body is read, and refuse one that cannot be read. */
  readonly readers: ParsedFile;
  readonly setup: ParsedFile;
  /** In the order in which they run. */
  readonly rules: readonly ParsedFile[];
}

/** Files of exclusion packages by when they run. A package lacks those that it does not need. */
export interface ExclusionPackages {
  /** Options of the packages. */
  readonly config: readonly ParsedFile[];
  /** Rules that run before the core rules, whose `ctl` actions act on these. */
  readonly before: readonly ParsedFile[];
  /** Changes to the core rules, which must be there. */
  readonly after: readonly ParsedFile[];
}

let known: CoreRules | undefined;
const knownFiles = new Map<string, ParsedFile>();

/** Parsed once: projects of a process share it. */
export function coreRules(): CoreRules {
  known ??= readCoreRules();
  return known;
}

function readCoreRules(): CoreRules {
  const names = readdirSync(join(FOLDER, RULES)).filter((name) => name.endsWith('.conf'));
  return {
    readers: withoutSettings(parsed(READERS)),
    setup: parsed(SETUP),
    rules: names.sort().map((name) => parsed(`${RULES}/${name}`)),
  };
}

/** Reads the packages with these names, such as `wordpress`, in the order of names, as CRS includes them. */
export function exclusionPackages(names: readonly string[]): ExclusionPackages {
  if (names.length === 0) return { config: [], before: [], after: [] };
  const all = readdirSync(join(FOLDER, PLUGINS)).sort();
  const filesOf = (part: keyof ExclusionPackages) =>
    all.filter((file) => names.some((name) => file === `${name}-rule-exclusions-${part}.conf`)).map(pluginFile);
  return { config: filesOf('config'), before: filesOf('before'), after: filesOf('after') };
}

function pluginFile(name: string): ParsedFile {
  const file = knownFiles.get(name) ?? parsed(`${PLUGINS}/${name}`);
  knownFiles.set(name, file);
  return file;
}

/** What it sets about bodies and logs is the plugin's config. */
function withoutSettings(file: ParsedFile): ParsedFile {
  const directives = file.directives.filter(({ kind }) => kind !== 'settings');
  return { ...file, directives, diagnostics: file.diagnostics.filter(({ severity }) => severity === 'error') };
}

function parsed(name: string): ParsedFile {
  return parseSecLang({ name, bytes: readFileSync(join(FOLDER, name)) }, readData);
}

function readData(name: string): Uint8Array | undefined {
  return /^[a-z0-9-]+\.data$/.test(name) ? readFileSync(join(FOLDER, RULES, name)) : undefined;
}
