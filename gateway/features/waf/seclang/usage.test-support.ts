/** Lists what a program uses of SecLang: an engine must know exactly this. */
import type { Text } from './model.ts';
import type { Link, Program, ProgramRule } from './program.ts';

class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  lines(): readonly string[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `  ${name} ${count}`);
  }
}

/** Sections of names with the number of their uses. */
export function usageOf({ rules }: Program): string {
  const sections = new Map<string, Counts>();
  const count = (section: string, name: string) => {
    const counts = sections.get(section) ?? new Counts();
    sections.set(section, counts);
    counts.add(name);
  };
  for (const rule of rules) {
    countRule(rule, count);
    for (const link of rule.links) countLink(link, count);
  }
  return [...sections].flatMap(([title, counts]) => [title, ...counts.lines(), '']).join('\n');
}

type Count = (section: string, name: string) => void;

function countRule(rule: ProgramRule, count: Count): void {
  const level = rule.tags.find((tag) => tag.startsWith('paranoia-level/')) ?? 'no paranoia level';
  count('rules by phase', `phase ${rule.phase}`);
  count('rules by phase and paranoia level', `phase ${rule.phase}, ${level}`);
  count('links of a chain', `${rule.links.length}`);
  count('disruptive actions, with defaults', rule.disruptive.kind);
  if (rule.jump !== null) count('other actions', 'skip or skipAfter');
}

function countLink(link: Link, count: Count): void {
  for (const { variable, selector, count: isCount } of link.targets) {
    const kind = selector === null ? '' : selector.kind === 'name' ? ':name' : ':/pattern/';
    count(
      'targets',
      `${isCount ? '&' : ''}${variable}${variable === 'XML' && selector?.kind === 'name' ? `:${selector.name}` : kind}`,
    );
  }
  for (const { variable, selector } of link.exclusions)
    count('exclusions', `!${variable}${selector === null ? '' : selector.kind === 'name' ? ':name' : ':/pattern/'}`);
  const { operator } = link;
  const macros = operator?.argument.kind === 'text' ? macrosOf(operator.argument.text) : [];
  count(
    'operators',
    operator === null
      ? 'none (SecAction)'
      : `${operator.negated ? '!' : ''}@${operator.name}${macros.length > 0 ? ' with a macro' : ''}`,
  );
  for (const name of link.transformations) count('transformations', name);
  if (link.transformations.length > 0) count('lists of transformations', link.transformations.join(','));
  if (link.capture) count('other actions', 'capture');
  if (link.multiMatch) count('other actions', 'multiMatch');
  for (const macro of [...macros, ...macrosOf(link.msg ?? []), ...macrosOf(link.logdata ?? [])]) count('macros', macro);
  for (const effect of link.effects) {
    if (effect.kind === 'switch') count('ctl', `${effect.name}=${effect.value}`);
    else if (effect.kind === 'setvar') {
      count('setvar', `${effect.operation}${macrosOf(effect.name).length > 0 ? ', name with a macro' : ''}`);
      for (const macro of [...macrosOf(effect.name), ...macrosOf(effect.value)]) count('macros', macro);
    } else count('ctl', effect.kind);
  }
}

/** Members of TX by kind, as there are many. */
function macrosOf(text: Text): readonly string[] {
  return text.flatMap((part) => {
    if (typeof part === 'string') return [];
    if (part.key === null) return [part.variable];
    if (part.variable === 'TX') return [/^\d$/.test(part.key) ? `TX.${part.key}` : 'TX.name'];
    return [`${part.variable}.${part.key}`];
  });
}
