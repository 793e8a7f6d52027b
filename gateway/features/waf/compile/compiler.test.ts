import { describe, expect, it } from 'vitest';
import type { JsonObject, NamedFiles } from '../../kit.ts';
import { decodeProgram } from '../seclang/program-format.ts';
import { wafCompiler } from './compiler.ts';

const BLOCK = `SecRule ARGS:note "@pmFromFile words.data" "id:1001,phase:2,deny,status:403,msg:'A word'"`;

function filesOf(texts: Readonly<Record<string, string>>): NamedFiles {
  const names = Object.keys(texts).sort();
  return {
    matching: (path) => {
      const form = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
      return names.filter((name) => form.test(name));
    },
    read: (path) => (texts[path] === undefined ? undefined : Buffer.from(texts[path])),
  };
}

function compiled(texts: Readonly<Record<string, string>>, config: JsonObject = {}) {
  return wafCompiler.compile({ core_rules: false, rules: ['waf/*.conf'], ...config }, filesOf(texts));
}

function programOf(texts: Readonly<Record<string, string>>, config: JsonObject = {}) {
  const { bytes, findings } = compiled(texts, config);
  if (bytes === null) throw new Error(JSON.stringify(findings));
  return decodeProgram(bytes);
}

/** Ids of the rules that are not readers of bodies. */
function idsOf(texts: Readonly<Record<string, string>>, config: JsonObject = {}): readonly number[] {
  const ids = programOf(texts, config).rules.map(({ id }) => id);
  return ids.filter((id) => id < 200_000 || id > 200_099);
}

describe('rules of a config', () => {
  it('are the core rules by default', () => {
    const { bytes, findings } = wafCompiler.compile({ core_rules: true, rules: [] }, filesOf({}));
    expect(findings).toEqual([]);
    const ids = decodeProgram(bytes ?? new Uint8Array()).rules.map(({ id }) => id);
    expect(ids.slice(0, 6)).toEqual([200000, 200001, 200006, 200002, 200003, 900990]);
    expect(ids).toContain(942100);
    expect(ids.at(-1)).toBe(980018);
  });

  it('read phrases beside the file of the rule', () => {
    const texts = { 'waf/a.conf': BLOCK, 'waf/words.data': '# none of these\nbad\nworse\n' };
    const rule = programOf(texts).rules.find(({ id }) => id === 1001);
    expect(rule?.links[0]?.operator?.argument).toEqual({ kind: 'phrases', phrases: ['bad', 'worse'] });
  });

  it('run in the order of the config, each file once', () => {
    const action = (id: number) => `SecAction "id:${id},phase:1,pass,nolog"`;
    const texts = { 'waf/a.conf': action(1), 'waf/b.conf': action(2), 'last.conf': action(3) };
    expect(idsOf(texts, { rules: ['waf/b.conf', 'waf/*.conf', 'last.conf'] })).toEqual([2, 1, 3]);
  });

  it('run before the core rules, and change them wherever the change stands', () => {
    const text = 'SecRuleRemoveById 942100\nSecAction "id:1001,phase:1,pass,nolog,setvar:tx.blocking_paranoia_level=2"';
    const ids = idsOf({ 'waf/a.conf': text }, { core_rules: true });
    expect(ids).not.toContain(942100);
    expect(ids.indexOf(1001)).toBeGreaterThan(-1);
    expect(ids.indexOf(1001)).toBeLessThan(ids.indexOf(901001));
  });

  it('end a chain where a change stands in it', () => {
    const text = `SecRule ARGS "@rx a" "id:1,phase:2,deny,chain"\nSecRuleRemoveById 1\nSecRule ARGS "@rx b" "id:2,phase:2,deny"`;
    const { bytes, findings } = compiled({ 'waf/a.conf': text });
    expect(bytes).toBeNull();
    expect(findings[0]).toMatchObject({ code: 'E1083', at: { file: 'waf/a.conf', line: 1 } });
  });
});

describe('exclusion packages', () => {
  const core = { core_rules: true, rules: [] };

  it('run in the order of CRS: options, rules of the project, the package, the core rules', () => {
    const rule = 'SecAction "id:1001,phase:1,pass,nolog,setvar:tx.phpmyadmin-rule-exclusions-plugin_url_format=old"';
    const config = { ...core, rules: ['waf/*.conf'], exclusion_packages: ['phpmyadmin'] };
    const ids = idsOf({ 'waf/a.conf': rule }, config);
    const order = [900990, 9513020, 1001, 9513100, 901001];
    expect(ids.filter((id) => order.includes(id))).toEqual(order);
    expect(ids.some((id) => id >= 9507000 && id < 9508000)).toBe(false);
  });

  it('change core rules as their last files say', () => {
    const ruleWith = (exclusion_packages: readonly string[]) =>
      programOf({}, { ...core, exclusion_packages }).rules.find(({ id }) => id === 942340);
    const selector = { kind: 'pattern', pattern: '(?i)^pmaAuth-[0-9]+$' };
    const exclusion = { variable: 'REQUEST_COOKIES', selector };
    expect(ruleWith([])?.links[0]?.exclusions).not.toContainEqual(exclusion);
    expect(ruleWith(['phpmyadmin'])?.links[0]?.exclusions).toContainEqual(exclusion);
  });

  it('compile together without a finding, and the same in any order', () => {
    const names = ['cpanel', 'dokuwiki', 'drupal', 'nextcloud', 'phpbb', 'phpmyadmin', 'wordpress', 'xenforo'];
    const { bytes, findings } = compiled({}, { ...core, exclusion_packages: names });
    expect(findings).toEqual([]);
    expect(compiled({}, { ...core, exclusion_packages: names.toReversed() }).bytes).toEqual(bytes);
  });

  it('need the core rules', () => {
    const config = { ...core, core_rules: false, exclusion_packages: ['drupal'] };
    expect(compiled({}, config).check(config)).toMatchObject([{ code: 'E1030', pointer: '/exclusion_packages' }]);
  });
});

describe('the rest of a config', () => {
  const check = (config: JsonObject) => {
    const texts = { 'waf/a.conf': `SecAction "id:1001,phase:1,pass,tag:'mine'"` };
    return compiled(texts)
      .check(config)
      .map(({ code, pointer, message }) => `${code} ${pointer} ${message}`);
  };

  it('names rules that there are', () => {
    expect(check({ exclusions: [{ rules: [1001, '1000-1002'], tags: ['mine'] }] })).toEqual([]);
    expect(check({ exclusions: [{ rules: [1001] }, { rules: [7, '9-8'], tags: ['other'] }] })).toEqual([
      'E1084 /exclusions/1/rules/0 no rule has the id 7',
      'E1030 /exclusions/1/rules/1 "9-8" is not a range of ids',
      'E1084 /exclusions/1/tags/0 no rule has the tag "other"',
    ]);
  });

  it('detects at no lower level than it blocks', () => {
    expect(check({ paranoia_level: 2, detection_paranoia_level: 3 })).toEqual([]);
    expect(check({ paranoia_level: 2, detection_paranoia_level: 1 })).toHaveLength(1);
  });
});

describe('faults', () => {
  it('stand at their line in the file', () => {
    const { bytes, findings } = compiled({ 'waf/a.conf': '# a rule\nSecRule GEO:COUNTRY "@streq XX" "id:1,deny"\n' });
    expect(bytes).toBeNull();
    expect(findings).toMatchObject([{ code: 'E1083', at: { file: 'waf/a.conf', line: 2, column: 9 } }]);
  });

  it('name files that are not there, and those that are', () => {
    const { bytes, findings } = compiled({ 'rules/a.conf': '' });
    expect(bytes).toBeNull();
    expect(findings).toMatchObject([{ code: 'E1082', pointer: '/rules/0' }]);
    expect(findings[0]?.hint).toContain('such as rules/a.conf');
  });

  it('are warnings for settings that the config has', () => {
    const { bytes, findings } = compiled({ 'waf/a.conf': 'SecRuleEngine On\nSecAction "id:1,phase:1,pass"' });
    expect(bytes).not.toBeNull();
    expect(findings).toMatchObject([
      { code: 'E1084', hint: 'Write "mode" in the config of waf.', at: { file: 'waf/a.conf', line: 1 } },
    ]);
  });
});
