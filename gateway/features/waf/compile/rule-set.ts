/**
 * Puts the rules of a config together, in the order in which they run: readers of bodies, the setup, options of
 * exclusion packages, the rules of the project, exclusion packages, the core rules. So rules of the project may set the
 * options. What packages and the project remove or update is removed or updated last, in whatever file of the project
 * it stands: it names rules that must be there.
 */
import type { Directive, ParsedFile, SecLangDiagnostic, Settings } from '../seclang/model.ts';
import type { Program } from '../seclang/program.ts';
import { resolveProgram } from '../seclang/resolve.ts';
import { coreRules, exclusionPackages } from './core-rules.ts';

export interface RuleSet {
  /** Null if there is an error. */
  readonly program: Program | null;
  readonly diagnostics: readonly SecLangDiagnostic[];
}

interface CoreChoice {
  readonly withCore: boolean;
  /** Names of exclusion packages, which have no effect without the core rules. */
  readonly packages: readonly string[];
}

/** `project`: its files, in their order. */
export function ruleSetOf(project: readonly ParsedFile[], { withCore, packages }: CoreChoice): RuleSet {
  const core = coreRules();
  const { config, before, after } = exclusionPackages(withCore ? packages : []);
  const { program, diagnostics } = resolveProgram([
    core.readers,
    ...(withCore ? [core.setup] : []),
    ...config,
    ...project.map(withoutChanges),
    ...before,
    ...(withCore ? core.rules : []),
    ...after,
    ...project.map(changesOf).filter(({ directives }) => directives.length > 0),
  ]);
  // Packages name rules of other versions of CRS, too.
  const ofPackages = new Set([...config, ...before, ...after].map(({ name }) => name));
  const relevant = diagnostics.filter(({ severity, file }) => severity === 'error' || !ofPackages.has(file));
  return { program, diagnostics: [...relevant, ...project.flatMap(warningsOfSettings)] };
}

function isChange({ kind }: Directive): boolean {
  return kind === 'remove' || kind === 'updateTargets' || kind === 'updateActions';
}

/** In place of a directive stands one without effect: it ends a chain of rules all the same. */
function withoutChanges(file: ParsedFile): ParsedFile {
  const directives = file.directives.map((each): Directive => {
    return isChange(each) || each.kind === 'settings' ? { place: each.place, kind: 'settings', settings: {} } : each;
  });
  return { ...file, directives };
}

function changesOf({ name, directives }: ParsedFile): ParsedFile {
  return { name, directives: directives.filter(isChange), diagnostics: [] };
}

/** Directives, and the property of the config that has their place. */
const PROPERTIES: Readonly<Record<keyof Settings, readonly [directive: string, property: string]>> = {
  ruleEngine: ['SecRuleEngine', 'mode'],
  auditEngine: ['SecAuditEngine', 'audit_log.requests'],
  auditRelevantStatus: ['SecAuditLogRelevantStatus', 'audit_log.requests'],
  requestBodyAccess: ['SecRequestBodyAccess', 'request_body.inspect'],
  requestBodyLimit: ['SecRequestBodyLimit', 'request_body.max_bytes'],
  requestBodyNoFilesLimit: ['SecRequestBodyNoFilesLimit', 'request_body.max_bytes'],
  requestBodyLimitAction: ['SecRequestBodyLimitAction', 'request_body.over_limit'],
  requestBodyJsonDepthLimit: ['SecRequestBodyJsonDepthLimit', 'request_body.max_depth'],
  argumentsLimit: ['SecArgumentsLimit', 'request_body.max_arguments'],
  responseBodyAccess: ['SecResponseBodyAccess', 'response_body.inspect'],
  responseBodyLimit: ['SecResponseBodyLimit', 'response_body.max_bytes'],
  responseBodyLimitAction: ['SecResponseBodyLimitAction', 'response_body.max_bytes'],
  responseBodyMimeTypes: ['SecResponseBodyMimeType', 'response_body.content_types'],
  componentSignatures: ['SecComponentSignature', 'audit_log'],
};

/** Settings belong to the config, so that operations with other settings share their rules. */
function warningsOfSettings({ directives }: ParsedFile): readonly SecLangDiagnostic[] {
  return directives.flatMap((directive) => {
    if (directive.kind !== 'settings') return [];
    return Object.keys(directive.settings).map((key): SecLangDiagnostic => {
      const [name, property] = PROPERTIES[key as keyof Settings];
      const message = `${name} has no effect: the config of the plugin sets it`;
      return { ...directive.place, severity: 'warning', message, hint: `Write "${property}" in the config of waf.` };
    });
  });
}
