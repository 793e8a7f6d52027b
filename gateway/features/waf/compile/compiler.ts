/** Makes the rules of a `waf` config an entry of the artifact. */

import { type DataCompiler, type DataFinding, isList, type JsonObject, type NamedFiles } from '../../kit.ts';
import { RuleIndex } from '../host/rule-index.ts';
import type { ParsedFile, SecLangDiagnostic } from '../seclang/model.ts';
import { parseSecLang } from '../seclang/parse.ts';
import { encodeProgram } from '../seclang/program-format.ts';
import { checkConfig } from './check-config.ts';
import { ruleSetOf } from './rule-set.ts';

/** The plugin's schema has checked types and filled in defaults. */
export const wafCompiler: DataCompiler = {
  property: 'rule_set',
  sourcesOf: ({ core_rules = true, rules = [], exclusion_packages = [] }) => ({
    core_rules,
    rules,
    exclusion_packages,
  }),
  compile(config, files) {
    const { names, findings: missing } = ruleFiles(config, files);
    const parsed = names.map((name) => parsedFile(name, files));
    const withCore = config['core_rules'] !== false;
    const { program, diagnostics } = ruleSetOf(parsed, { withCore, packages: textsAt(config, 'exclusion_packages') });
    const own = new Set(names);
    const findings = [...missing, ...diagnostics.map((each) => findingOf(each, own))];
    if (program === null || missing.length > 0) return { bytes: null, findings, check: () => [] };
    const index = new RuleIndex(program);
    return { bytes: encodeProgram(program), findings, check: (each) => checkConfig(each, index) };
  },
};

interface RuleFiles {
  /** Each once, in the order of the config. */
  readonly names: readonly string[];
  readonly findings: readonly DataFinding[];
}

function ruleFiles(config: JsonObject, files: NamedFiles): RuleFiles {
  const names = new Set<string>();
  const findings: DataFinding[] = [];
  for (const [i, path] of textsAt(config, 'rules').entries()) {
    const found = files.matching(path);
    if (found.length === 0) findings.push(missingFile(path, i, files));
    for (const name of found) names.add(name);
  }
  return { names: [...names], findings };
}

function textsAt(config: JsonObject, property: string): readonly string[] {
  const value = config[property];
  return isList(value) ? value.filter((each) => typeof each === 'string') : [];
}

function missingFile(path: string, index: number, files: NamedFiles): DataFinding {
  const [other] = ['*.conf', '*/*.conf'].flatMap((each) => files.matching(each));
  return {
    code: 'E1082',
    pointer: `/rules/${index}`,
    message: `the project has no rule file "${path}" in the folder of this document`,
    hint:
      other === undefined
        ? 'Add the file: paths begin at the folder of the document.'
        : `Write a path that is there, such as ${other}: paths begin at the folder of the document.`,
  };
}

/** Files of phrases and networks lie beside the rule that names them. */
function parsedFile(name: string, files: NamedFiles): ParsedFile {
  const folder = name.slice(0, name.lastIndexOf('/') + 1);
  const bytes = files.read(name) ?? new Uint8Array();
  return parseSecLang({ name, bytes }, (data) => files.read(folder + data));
}

/** `own`: names of the project's files. A place in the core rules is one that the project's rules led to. */
function findingOf({ severity, file, line, column, message, hint }: SecLangDiagnostic, own: ReadonlySet<string>) {
  const code = severity === 'error' ? 'E1083' : 'E1084';
  if (own.has(file)) return { code, pointer: '/rules', message, hint, at: { file, line, column } } as const;
  return { code, pointer: '/rules', message: `${message} (${file}:${line}, of the core rules)`, hint } as const;
}
