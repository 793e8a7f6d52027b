/** Several files as one program. */
import { describe, expect, it } from 'vitest';
import { parseSecLang } from './parse.ts';
import type { Program } from './program.ts';
import { type Resolution, resolveProgram } from './resolve.ts';

function resolve(...texts: readonly string[]): Resolution {
  const files = texts.map((text, index) => ({ name: `${index}.conf`, bytes: Buffer.from(text) }));
  return resolveProgram(files.map((file) => parseSecLang(file, () => undefined)));
}

function program(...texts: readonly string[]): Program {
  const { program: found, diagnostics } = resolve(...texts);
  expect(diagnostics).toEqual([]);
  return found!;
}

/** As `file:line message`. */
function faults(...texts: readonly string[]): readonly string[] {
  return resolve(...texts).diagnostics.map(
    ({ severity, file, line, message }) => `${severity === 'warning' ? 'warning ' : ''}${file}:${line} ${message}`,
  );
}

function action(id: number, more = 'pass', phase = 1): string {
  return `SecAction "id:${id},phase:${phase},${more}"`;
}

const ids = ({ rules }: Program) => rules.map(({ id }) => id);

describe('chains', () => {
  it('become the links of their first rule', () => {
    const { rules } = program(
      'SecRule ARGS a "id:1,phase:1,deny,t:lowercase,chain"\n SecRule ARGS b "t:length,setvar:tx.a=1,chain"\n SecRule ARGS c',
    );
    expect(rules).toHaveLength(1);
    expect(
      rules[0]!.links.map(({ line, transformations, effects }) => [line, transformations, effects.length]),
    ).toEqual([
      [1, ['lowercase'], 0],
      [2, ['length'], 1],
      [3, [], 0],
    ]);
  });

  it('have one id, phase and disruptive action', () => {
    const chain = (more: string) => `SecRule ARGS a "id:1,chain"\nSecRule ARGS b "${more}"`;
    expect(faults(chain('deny'))).toEqual(['0.conf:2 a chained rule cannot set disruptive']);
    expect(faults(chain('phase:2'))).toEqual(['0.conf:2 a chained rule cannot set phase']);
    expect(faults(chain('tag:a'))).toEqual(['0.conf:2 a chained rule cannot set tag']);
  });

  it.each(['', '\nSecMarker A', '\nSecRuleEngine On'])('need a next rule: %#', (more) => {
    expect(faults(`SecRule ARGS a "id:1,chain"${more}`, action(2))).toEqual(['0.conf:1 the chain has no next rule']);
  });
});

describe('ids', () => {
  it('are needed, and unique over all files', () => {
    expect(faults('SecAction "pass"')).toEqual(['0.conf:1 the rule has no id']);
    expect(faults(action(1), action(1))).toEqual(['1.conf:1 another rule has the id 1: 0.conf, line 1']);
  });

  it('are free again once their rule is removed', () => {
    const { rules } = program(action(1), `SecRuleRemoveById 1\n${action(1, 'deny')}`);
    expect(rules.map(({ id, disruptive, file }) => [id, disruptive.kind, file])).toEqual([[1, 'deny', 1]]);
  });
});

describe('default actions', () => {
  it('hold for later rules of their phase that say nothing else', () => {
    const { rules } = program(
      [
        action(1, 'block'),
        'SecDefaultAction "phase:1,deny,status:406,nolog"',
        action(2, 'block'),
        'SecAction "id:3,phase:1"',
        action(4, 'pass,log'),
        action(5, 'block', 2),
        action(6, 'block,status:400'),
      ].join('\n'),
    );
    expect(rules.map(({ id, disruptive, status, log }) => [id, disruptive.kind, status, log])).toEqual([
      [1, 'pass', 403, true],
      [2, 'deny', 406, false],
      [3, 'deny', 406, false],
      [4, 'pass', 406, true],
      [5, 'pass', 403, true],
      [6, 'deny', 400, false],
    ]);
  });

  it('are phase 2, pass and log without a directive', () => {
    const [rule] = program('SecAction "id:1"').rules;
    expect(rule).toMatchObject({ phase: 2, disruptive: { kind: 'pass' }, log: true, audit: true, status: 403 });
  });

  it('give a redirect a status of redirects', () => {
    const redirect = (more: string) => `SecAction "id:1,phase:1,redirect:/a${more}"`;
    const defaults = 'SecDefaultAction "phase:1,deny,status:403"';
    expect(program(redirect('')).rules[0]!.status).toBe(302);
    expect(program(defaults, redirect('')).rules[0]!.status).toBe(302);
    expect(program(defaults, redirect(',status:301')).rules[0]!.status).toBe(301);
  });
});

describe('removals and updates', () => {
  const core = [action(1, "tag:a,msg:'one'"), action(2, "tag:b,msg:'two'"), action(3, 'tag:a')].join('\n');

  it.each([
    ['SecRuleRemoveById 1', [2, 3]],
    ['SecRuleRemoveById 1-2', [3]],
    ['SecRuleRemoveByTag a', [2]],
    ['SecRuleRemoveByMsg two', [1, 3]],
  ])('%s', (text, left) => {
    expect(ids(program(core, text))).toEqual(left);
  });

  it.each([
    ['SecRuleRemoveById 9', 'warning 1.conf:1 no rule before this line has the id 9'],
    ['SecRuleRemoveById 8-9', 'warning 1.conf:1 no rule before this line has an id from 8 to 9'],
    ['SecRuleRemoveByTag c', 'warning 1.conf:1 no rule before this line has the tag "c"'],
    ['SecRuleUpdateTargetById 9 !ARGS:a', 'warning 1.conf:1 no rule before this line has the id 9'],
    [action(9, 'ctl:ruleRemoveById=8'), 'warning 1.conf:1 ctl: no rule has the id 8'],
  ])('warn about what selects no rule: %s', (text, warning) => {
    expect(faults(core, text)).toEqual([warning]);
  });

  it('change targets of the first rule of a chain', () => {
    const { rules } = program(
      'SecRule ARGS a "id:1,chain"\nSecRule ARGS b',
      'SecRuleUpdateTargetById 1 "!ARGS:x|REQUEST_URI"',
    );
    const [first, second] = rules[0]!.links;
    expect(first!.exclusions).toEqual([{ variable: 'ARGS', selector: { kind: 'name', name: 'x' } }]);
    expect(first!.targets.map(({ variable }) => variable)).toEqual(['ARGS', 'REQUEST_URI']);
    expect(second!.exclusions).toEqual([]);
  });

  it('change actions', () => {
    const { rules } = program(
      action(1, 'deny,tag:a,t:lowercase,setvar:tx.a=1'),
      'SecRuleUpdateActionById 1 "pass,tag:b,t:none,t:length,setvar:tx.b=1"\nSecRuleRemoveByTag b',
      action(2, 'deny,t:lowercase'),
      'SecRuleUpdateActionById 2 "status:404,t:length"',
    );
    expect(rules).toMatchObject([
      { id: 2, disruptive: { kind: 'deny' }, status: 404, links: [{ transformations: ['lowercase', 'length'] }] },
    ]);
  });

  it('select rules for ctl by their indexes, wherever they stand', () => {
    const { rules } = program(action(9, 'ctl:ruleRemoveByTag=a,ctl:ruleRemoveTargetById=1-3;ARGS:x'), core);
    expect(rules[0]!.links[0]!.effects).toEqual([
      {
        kind: 'removeRules',
        rules: [
          [1, 1],
          [3, 3],
        ],
      },
      {
        kind: 'removeTarget',
        rules: [[1, 3]],
        target: { variable: 'ARGS', selector: { kind: 'name', name: 'x' } },
      },
    ]);
  });
});

describe('jumps', () => {
  const jumps = (text: string) => program(text).rules.map(({ jump }) => jump);

  it('lead to the rule behind the next marker of that name', () => {
    expect(
      jumps(
        [action(1, 'skipAfter:A'), action(2), 'SecMarker A', action(3, 'skipAfter:A'), 'SecMarker A', action(4)].join(
          '\n',
        ),
      ),
    ).toEqual([2, null, 3, null]);
  });

  it('lead past the last rule, or behind a rule by its id', () => {
    expect(jumps([action(1, 'skipAfter:END'), action(2), 'SecMarker END'].join('\n'))).toEqual([2, null]);
    expect(jumps([action(1, 'skipAfter:2'), action(2), action(3)].join('\n'))).toEqual([2, null, null]);
  });

  it('count rules of their phase', () => {
    expect(
      jumps([action(1, 'skip:1'), action(2, 'pass', 2), action(3), action(4, 'pass', 2), action(5)].join('\n')),
    ).toEqual([4, null, null, null, null]);
    expect(jumps([action(1, 'skip:5'), action(2)].join('\n'))).toEqual([2, null]);
  });

  it('do not count rules that are removed', () => {
    expect(jumps([action(1, 'skip:1'), action(2), action(3), action(4), 'SecRuleRemoveById 2'].join('\n'))).toEqual([
      2,
      null,
      null,
    ]);
  });

  it('need a marker behind them', () => {
    expect(faults(action(1, 'skipAfter:A'))).toEqual(['0.conf:1 there is no marker "A" for skipAfter']);
    expect(faults(`SecMarker A\n${action(1, 'skipAfter:A')}`)).toEqual([
      '0.conf:2 skipAfter jumps back to the marker "A"',
    ]);
  });
});

describe('settings', () => {
  it('are those of the last directive, and lists of all', () => {
    const { settings } = program(
      'SecRuleEngine Off\nSecResponseBodyMimeType a/a\nSecComponentSignature "x"',
      'SecRuleEngine On\nSecResponseBodyMimeTypesClear\nSecResponseBodyMimeType b/b c/c\nSecComponentSignature "y"',
    );
    expect(settings).toEqual({
      ruleEngine: 'On',
      responseBodyMimeTypes: ['b/b', 'c/c'],
      componentSignatures: ['x', 'y'],
    });
  });
});

describe('limits', () => {
  it('hold for the number of files and directives', () => {
    expect(faults(...Array.from({ length: 501 }, () => ''))).toEqual(['0.conf:1 more than 500 files of rules']);
    expect(faults('SecMarker A\n'.repeat(20_001))).toEqual(['0.conf:1 more than 20000 directives']);
  });

  it('hold for the rules that directives and ctl select together', () => {
    const rules = Array.from({ length: 5000 }, (_, index) => action(index + 1, 'tag:a')).join('\n');
    const updates = 'SecRuleUpdateTargetByTag a ARGS\n'.repeat(500);
    expect(faults(rules, updates).at(-1)).toContain('directives and ctl actions select more than 2000000 rules');
    const removals = Array.from({ length: 900 }, (_, index) =>
      action(10_000 + index, `ctl:ruleRemoveById=1-${4000 + index}`),
    );
    expect(faults(rules, removals.join('\n')).at(-1)).toContain('select more than 2000000 rules');
  });

  it('hold for the targets of one rule', () => {
    const updates = 'SecRuleUpdateTargetById 1 ARGS\n'.repeat(1001);
    expect(faults(action(1), updates)[0]).toContain('the rule would have more than 1000 targets');
  });
});
