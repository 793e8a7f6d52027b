/** Rules as the resolver holds them, and as a program has them. */
import type { Directive, Disruptive, Effect, Exclusion, Phase, Place, RuleActions, Target } from './model.ts';
import type { Link, ProgramEffect, ProgramRule } from './program.ts';

export type RuleDirective = Extract<Directive, { kind: 'rule' }>;

/** A rule of a chain as it stands in a file, with later updates. */
export interface ChainLink {
  readonly place: Place;
  readonly targets: Target[];
  readonly exclusions: Exclusion[];
  readonly condition: RuleDirective['condition'];
  actions: RuleActions;
}

export interface RuleEntry {
  readonly id: number;
  readonly file: number;
  readonly links: ChainLink[];
  readonly defaults: RuleActions;
  removed: boolean;
}

export const STANDARD_DEFAULTS: RuleActions = {
  disruptive: { kind: 'pass' },
  log: true,
  audit: true,
  tags: [],
  transformations: [],
  resetsTransformations: false,
  effects: [],
};

/** ModSecurity runs rules without a phase in this one. */
export const STANDARD_PHASE: Phase = 2;
const STANDARD_STATUS = { deny: 403, redirect: 302 };
const REDIRECTS = [301, 302, 303, 307, 308];

export function mergedActions(before: RuleActions, update: RuleActions): RuleActions {
  return {
    ...before,
    ...update,
    tags: [...before.tags, ...update.tags],
    effects: [...before.effects, ...update.effects],
    transformations: update.resetsTransformations
      ? update.transformations
      : [...before.transformations, ...update.transformations],
    resetsTransformations: before.resetsTransformations || update.resetsTransformations,
  };
}

export function programRule(
  { id, file, links, defaults }: RuleEntry,
  jump: number | null,
  resolve: (effect: Effect) => ProgramEffect,
): ProgramRule {
  const { actions } = links[0]!;
  const asked = actions.disruptive;
  const disruptive = asked === undefined || asked.kind === 'block' ? defaults.disruptive! : asked;
  return {
    id,
    phase: actions.phase ?? STANDARD_PHASE,
    file,
    links: links.map((link) => programLink(link, resolve)),
    disruptive,
    status: statusOf(disruptive, actions.status ?? defaults.status),
    log: actions.log ?? defaults.log ?? true,
    audit: actions.audit ?? defaults.audit ?? true,
    severity: actions.severity ?? null,
    ver: actions.ver ?? null,
    rev: actions.rev ?? null,
    tags: actions.tags,
    jump,
  };
}

function programLink(
  { place, targets, exclusions, condition, actions }: ChainLink,
  resolve: (effect: Effect) => ProgramEffect,
): Link {
  return {
    line: place.line,
    targets,
    exclusions,
    operator: condition?.operator ?? null,
    transformations: actions.transformations,
    multiMatch: actions.multiMatch ?? false,
    capture: actions.capture ?? false,
    msg: actions.msg ?? null,
    logdata: actions.logdata ?? null,
    effects: actions.effects.map(resolve),
  };
}

/** A redirect ignores a default status for refusals. */
function statusOf({ kind }: Disruptive, status: number | undefined): number {
  if (kind !== 'redirect') return status ?? STANDARD_STATUS.deny;
  return status !== undefined && REDIRECTS.includes(status) ? status : STANDARD_STATUS.redirect;
}
