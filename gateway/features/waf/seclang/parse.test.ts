/** Files of rules: what each construct means, and what a writer is told about a fault. */
import { describe, expect, it } from 'vitest';
import { MAX_DIRECTIVE_BYTES, MAX_FILE_BYTES } from './limits.ts';
import type { Directive, ParsedFile } from './model.ts';
import { parseSecLang } from './parse.ts';

const DATA: Readonly<Record<string, string>> = {
  'words.data': '# comment\n\n  Select \r\nunion\nselect\n',
  'empty.data': '# nothing\n',
  'blocked.txt': '10.0.0.0/8\n# home\n::1\n',
};

function parse(text: string): ParsedFile {
  const readData = (name: string) => (DATA[name] === undefined ? undefined : Buffer.from(DATA[name]));
  return parseSecLang({ name: 'waf/a.conf', bytes: Buffer.from(text) }, readData);
}

/** The only directive of a text without faults. */
function one(text: string): Directive {
  const { directives, diagnostics } = parse(text);
  expect(diagnostics).toEqual([]);
  expect(directives).toHaveLength(1);
  return directives[0]!;
}

function rule(text: string): Extract<Directive, { kind: 'rule' }> {
  const directive = one(text);
  if (directive.kind !== 'rule') throw new Error(directive.kind);
  return directive;
}

/** As `line:column message | hint`. */
function faults(text: string): readonly string[] {
  return parse(text).diagnostics.map(
    ({ severity, line, column, message, hint }) =>
      `${severity === 'warning' ? 'warning ' : ''}${line}:${column} ${message} | ${hint}`,
  );
}

describe('lines', () => {
  it('join at backslashes, trimmed, with comments between them left out', () => {
    const text = '# first\r\n\r\n  SecRule ARGS "@rx a\\\r\n   b" \\\n# between\n\t"id:1,\\\n  deny"  \n';
    const { condition, actions, place } = rule(text);
    expect(condition?.operator.argument).toEqual({ kind: 'pattern', pattern: 'ab' });
    expect(actions).toMatchObject({ id: 1, disruptive: { kind: 'deny' } });
    expect(place).toEqual({ file: 'waf/a.conf', line: 3, column: 3 });
  });

  it('may begin with a byte order mark, and need no newline at the end', () => {
    expect(one('\ufeffSecMarker END')).toMatchObject({ kind: 'marker', name: 'END' });
  });

  it('keep bytes that are not UTF-8', () => {
    const bytes = Buffer.from('SecRule ARGS "@streq \xff\xa0" "id:1"', 'latin1');
    const { directives } = parseSecLang({ name: 'a', bytes }, () => undefined);
    expect(directives[0]).toMatchObject({ condition: { operator: { argument: { text: ['\xff\xa0'] } } } });
  });

  it.each([
    ['SecMarker A \\\n\nSecMarker B', '2:1 an empty line follows a line that ends with a backslash'],
    ['SecMarker A \\', '1:1 the file ends with a backslash'],
    [`SecMarker ${'a'.repeat(MAX_DIRECTIVE_BYTES)}`, `1:1 the directive is longer than ${MAX_DIRECTIVE_BYTES} bytes`],
    ['\n'.repeat(MAX_FILE_BYTES + 1), `1:1 the file is larger than ${MAX_FILE_BYTES} bytes`],
    ['SecMarker \0', '1:1 the file holds bytes of zero, so that it is not text'],
  ])('are refused: %#', (text, fault) => {
    expect(faults(text)[0]).toContain(fault);
  });

  it('have columns in characters', () => {
    expect(faults('SecRule ARGS "@streq é" "id:1,\\\n  msg:\'ä\',nope"')).toEqual([
      '2:11 unknown action "nope" | Correct the name, or remove the rule.',
    ]);
  });
});

describe('words', () => {
  it('hold spaces in double quotes, where \\" is a quote and other backslashes stay', () => {
    const { condition } = rule('SecRule "ARGS" "@contains a \\"b\\" \\\\c" "id:1"');
    expect(condition?.operator.argument).toEqual({ kind: 'text', text: ['a "b" \\\\c'] });
  });

  it('may follow each other without a space, if both are quoted', () => {
    const { condition, actions } = rule('SecRule ARGS "@rx a"\\\n    "id:1,phase:2,deny"');
    expect(condition?.operator.argument).toMatchObject({ pattern: 'a' });
    expect(actions.id).toBe(1);
  });

  it('need no quotes without spaces', () => {
    expect(rule('SecRule ARGS attack id:1').condition?.operator.name).toBe('rx');
  });

  it.each([
    ['SecRule ARGS "@rx a', '1:14 the double quote is not closed'],
    ['SecRule ARGS "@rx a"x "id:1"', '1:21 text follows a closing double quote'],
    ["SecAction 'id:1'", '1:11 single quotes do not hold an argument'],
    ['SecRule ARGS @rx a "id:1"', '1:1 SecRule has more than three arguments'],
    ['SecRule ARGS', '1:1 SecRule needs targets and an operator'],
  ])('are refused: %s', (text, fault) => {
    expect(faults(text)[0]).toContain(fault);
  });
});

describe('targets', () => {
  it('have selectors, exclusions and counts', () => {
    const text = "ARGS|args_get:Name|!ARGS:/^a\\/b|c/|&REQUEST_HEADERS:X-A|TX:'/x y/'|XML:/*|XML://@*|!REQUEST_COOKIES";
    const { condition } = rule(`SecRule "${text}" "@eq 1" "id:1"`);
    expect(condition?.targets).toEqual({
      targets: [
        { variable: 'ARGS', selector: null, count: false },
        { variable: 'ARGS_GET', selector: { kind: 'name', name: 'Name' }, count: false },
        { variable: 'REQUEST_HEADERS', selector: { kind: 'name', name: 'X-A' }, count: true },
        { variable: 'TX', selector: { kind: 'pattern', pattern: '(?i)x y' }, count: false },
        { variable: 'XML', selector: { kind: 'name', name: '/*' }, count: false },
        { variable: 'XML', selector: { kind: 'name', name: '//@*' }, count: false },
      ],
      exclusions: [
        { variable: 'ARGS', selector: { kind: 'pattern', pattern: '(?i)^a/b|c' } },
        { variable: 'REQUEST_COOKIES', selector: null },
      ],
    });
  });

  it.each([
    ['ARGZ', '1:9 unknown variable "ARGZ" | Write ARGS.'],
    ['ARGS|IP:x', '1:14 the variable IP is not supported | Remove it: collections that outlive a request'],
    ['ARGS|', '1:14 a target is missing'],
    ['ARGS:', '1:14 the selector is empty'],
    ['ARGS|REQUEST_URI:x', '1:25 REQUEST_URI is one value, without members'],
    ['ARGS:/a', '1:14 the selector has no closing /'],
    ['ARGS:/a/b', '1:17 "b" follows a target'],
    ["ARGS:'a", "1:14 the selector has no closing '"],
    ['ARGS:/(/', '1:15 the group is not closed'],
    ['XML://a', '1:13 the XPath expression "//a" is not supported'],
    ['!ARGS:x', '1:1 SecRule has exclusions only'],
  ])('are refused: %s', (targets, fault) => {
    expect(faults(`SecRule ${targets} "@rx a" "id:1"`)[0]).toContain(fault);
  });
});

describe('operators', () => {
  it.each([
    ['a|b', 'rx', false, { kind: 'pattern', pattern: 'a|b' }],
    ['!^a', 'rx', true, { kind: 'pattern', pattern: '^a' }],
    ['!@RX ^a', 'rx', true, { kind: 'pattern', pattern: '^a' }],
    ['@eq 5', 'eq', false, { kind: 'text', text: ['5'] }],
    ['@lt %{tx.max}', 'lt', false, { kind: 'text', text: [{ variable: 'TX', key: 'max' }] }],
    [
      '@within %{tx.a}/%{REMOTE_ADDR}',
      'within',
      false,
      {
        kind: 'text',
        text: [{ variable: 'TX', key: 'a' }, '/', { variable: 'REMOTE_ADDR', key: null }],
      },
    ],
    ['@pm Select  UNION select', 'pm', false, { kind: 'phrases', phrases: ['select', 'union'] }],
    ['@pmFromFile words.data', 'pm', false, { kind: 'phrases', phrases: ['select', 'union'] }],
    ['!@ipMatchF blocked.txt', 'ipMatch', true, { kind: 'networks', networks: ['10.0.0.0/8', '::1/128'] }],
    [
      '@ipMatch 127.0.0.1, 2001:DB8::/32',
      'ipMatch',
      false,
      {
        kind: 'networks',
        networks: ['127.0.0.1/32', '2001:db8::/32'],
      },
    ],
    [
      '@validateByteRange 65, 10-20,15-30',
      'validateByteRange',
      false,
      {
        kind: 'bytes',
        ranges: [
          [10, 30],
          [65, 65],
        ],
      },
    ],
    ['@detectSQLi', 'detectSQLi', false, { kind: 'none' }],
  ])('%s', (text, name, negated, argument) => {
    expect(rule(`SecRule ARGS "${text}" "id:1"`).condition?.operator).toEqual({ name, negated, argument });
  });

  it.each([
    ['@contians a', '1:16 unknown operator "contians" | Write contains.'],
    ['@rbl a.example', '1:16 the operator rbl is not supported | Remove it: rules do not ask other servers.'],
    ['@rx a(?=b)', '1:20 the pattern has a look-ahead'],
    ['@rx %{tx.a}', '1:19 patterns have no macros'],
    ['@streq', '1:21 @streq has no argument'],
    ['@streq %{tx.a', '1:22 the macro is not closed'],
    ['@streq %{tx.a b}', '1:22 %{tx.a b} is not a macro'],
    ['@streq %{REQUEST_URI.a}', '1:22 REQUEST_URI has no members | Write %{REQUEST_URI}.'],
    ['@eq five', '1:19 @eq compares numbers'],
    ['@pm A|42 43|', '1:20 @pm does not read bytes in hexadecimal'],
    ['@pmFromFile other.data', '1:27 there is no file "other.data"'],
    ['@pmFromFile empty.data', '1:27 there are no phrases'],
    ['@ipMatch 1.2.3', '1:24 "1.2.3" is not an address or network'],
    ['@ipMatch 1.2.3.4/33', '1:24 "1.2.3.4/33" is not an address or network'],
    ['@validateByteRange 0-256', '1:34 "0-256" is not a range of bytes'],
    ['@detectXSS x', '1:26 @detectXSS has no argument'],
  ])('are refused: %s', (operator, fault) => {
    expect(faults(`SecRule ARGS "${operator}" "id:1"`)[0]).toContain(fault);
  });
});

describe('actions', () => {
  it('are folded', () => {
    const { actions } = rule(
      `SecRule ARGS a "id:'7', phase:request,deny, status:406,log,noauditlog,capture,multiMatch,chain,` +
        `t:lowercase,t:none,t:urlDecodeUni,t:normalisePath,msg:'it\\'s, %{TX.0}',logdata:x,tag:'a',tag:b,` +
        `severity:'critical',ver:'1',rev:2,skipAfter:END"`,
    );
    expect(actions).toEqual({
      id: 7,
      phase: 2,
      disruptive: { kind: 'deny' },
      status: 406,
      log: true,
      audit: false,
      capture: true,
      multiMatch: true,
      chain: true,
      transformations: ['urlDecodeUni', 'normalizePath'],
      resetsTransformations: true,
      msg: ["it's, ", { variable: 'TX', key: '0' }],
      logdata: ['x'],
      tags: ['a', 'b'],
      severity: 2,
      ver: '1',
      rev: '2',
      skipAfter: 'END',
      effects: [],
    });
  });

  it.each([
    ['allow', { kind: 'allow' }],
    ['allow:phase', { kind: 'allowPhase' }],
    ['allow:request', { kind: 'allowRequest' }],
    [
      'redirect:https://a.example/?b=%{UNIQUE_ID}',
      {
        kind: 'redirect',
        location: ['https://a.example/?b=', { variable: 'UNIQUE_ID', key: null }],
      },
    ],
    ['pass,block', { kind: 'block' }],
  ])('%s', (text, disruptive) => {
    expect(rule(`SecAction "id:1,${text}"`).actions.disruptive).toEqual(disruptive);
  });

  it.each([
    ['tx.a=b', 'set', ['b']],
    ["'TX.a=b, c'", 'set', ['b, c']],
    ['tx.a', 'set', ['1']],
    ['!tx.a', 'unset', []],
    ['tx.a=+5', 'add', ['5']],
    ['tx.a=-%{tx.b}', 'subtract', [{ variable: 'TX', key: 'b' }]],
    ['tx.a=-x', 'set', ['-x']],
    ['tx.a=', 'set', []],
  ])('setvar:%s', (text, operation, value) => {
    const { effects } = rule(`SecAction "id:1,setvar:${text}"`).actions;
    expect(effects).toEqual([{ kind: 'setvar', name: ['a'], operation, value }]);
  });

  it('setvar may have macros in the name', () => {
    const { effects } = rule(`SecAction "id:1,setvar:'tx.a_%{MATCHED_VAR_NAME}=1'"`).actions;
    expect(effects).toMatchObject([{ name: ['a_', { variable: 'MATCHED_VAR_NAME', key: null }] }]);
  });

  it.each([
    ['ruleEngine=detectiononly', [{ kind: 'switch', name: 'ruleEngine', value: 'DetectionOnly' }]],
    ['requestBodyProcessor=json', [{ kind: 'switch', name: 'requestBodyProcessor', value: 'JSON' }]],
    ['requestBodyLimit=10', [{ kind: 'switch', name: 'requestBodyLimit', value: '10' }]],
    ['ruleRemoveById=1-2', [{ kind: 'removeRules', rules: { by: 'id', from: 1, to: 2 } }]],
    ['ruleRemoveByTag=a b', [{ kind: 'removeRules', rules: { by: 'tag', text: 'a b' } }]],
    [
      'ruleRemoveTargetById=3;ARGS:a|ARGS:/b/',
      [
        {
          kind: 'removeTarget',
          rules: { by: 'id', from: 3, to: 3 },
          target: { variable: 'ARGS', selector: { kind: 'name', name: 'a' } },
        },
        {
          kind: 'removeTarget',
          rules: { by: 'id', from: 3, to: 3 },
          target: { variable: 'ARGS', selector: { kind: 'pattern', pattern: '(?i)b' } },
        },
      ],
    ],
    [
      'ruleRemoveTargetByMsg=m;TX',
      [{ kind: 'removeTarget', rules: { by: 'msg', text: 'm' }, target: { variable: 'TX', selector: null } }],
    ],
  ])('ctl:%s', (text, effects) => {
    expect(rule(`SecAction "id:1,ctl:'${text}'"`).actions.effects).toEqual(effects);
  });

  it.each([
    ['dney', '1:17 unknown action "dney" | Write deny.'],
    ['exec:/bin/x', '1:17 the action exec is not supported | Remove it: rules do not start programs.'],
    ['phase', '1:17 phase has no value | Write it behind a colon, as in phase:2.'],
    ['phase:6', '1:23 unknown phase "6"'],
    ['deny:1', '1:22 deny takes no value'],
    ['allow:all', '1:23 unknown value "all" of allow'],
    ['id:2', '1:20 the rule has two ids'],
    ['id:x', '1:20 the rule has two ids'],
    ['status:99', '1:24 "99" is not a valid status | Write a whole number from 200 to 599.'],
    ['severity:high', '1:26 unknown severity "high"'],
    ['t:rot13', '1:19 unknown transformation "rot13"'],
    ['t:urldecod', '1:19 unknown transformation "urldecod" | Write urlDecode.'],
    ['t:parityOdd7bit', '1:19 the transformation parityOdd7bit is not supported'],
    [",msg:'a'", '1:17 an action is missing'],
    ["msg:'a", '1:21 the single quote is not closed'],
    ["msg:'%{nope}'", '1:24 unknown variable "nope"'],
    [
      'setvar:ip.a=1',
      '1:24 setvar cannot set "ip" | Set a member of TX, as in setvar:\'tx.score=+5\'; collections that',
    ],
    ['setvar:tx=1', '1:24 setvar names no member of TX'],
    ['setvar:!tx.a=1', '1:29 setvar with ! removes a variable'],
    ['ctl:ruleEngine=maybe', '1:32 unknown value "maybe" | Write one of On, Off, DetectionOnly.'],
    ['ctl:ruleEngine', '1:21 ctl:ruleEngine has no value'],
    ['ctl:hashEngine=On', '1:21 the ctl action hashEngine is not supported'],
    ['ctl:ruleRemoveById=x', '1:36 "x" is not an id or a range of ids'],
    ['ctl:ruleRemoveTargetById=1', '1:42 ctl:ruleRemoveTargetById names no target'],
    ['ctl:ruleRemoveTargetById=1;NOPE', '1:44 unknown variable "NOPE"'],
    ['ctl:ruleRemoveTargetById=1;!ARGS', '1:44 ctl removes a target, without ! or &'],
    ['maturity:9', 'warning 1:17 maturity has no effect | Remove it: the audit log does not carry it.'],
  ])('are refused: %s', (text, fault) => {
    expect(faults(`SecAction "id:1,${text}"`)[0]).toContain(fault);
  });
});

describe('other directives', () => {
  it.each([
    ['SecMarker "A B"', { kind: 'marker', name: 'A B' }],
    [
      'SecRuleRemoveById 1 2-3 "4 5"',
      {
        kind: 'remove',
        rules: [
          { by: 'id', from: 1, to: 1 },
          { by: 'id', from: 2, to: 3 },
          { by: 'id', from: 4, to: 4 },
          { by: 'id', from: 5, to: 5 },
        ],
      },
    ],
    ['SecRuleRemoveByTag "attack-sqli"', { kind: 'remove', rules: [{ by: 'tag', text: 'attack-sqli' }] }],
    ['SecRuleRemoveByMsg "a b"', { kind: 'remove', rules: [{ by: 'msg', text: 'a b' }] }],
    [
      'SecRuleUpdateTargetById 1 !ARGS:a',
      {
        kind: 'updateTargets',
        rules: [{ by: 'id', from: 1, to: 1 }],
        targets: { targets: [], exclusions: [{ variable: 'ARGS', selector: { kind: 'name', name: 'a' } }] },
      },
    ],
    [
      'SecRuleUpdateTargetByTag "a" "ARGS"',
      {
        kind: 'updateTargets',
        rules: [{ by: 'tag', text: 'a' }],
        targets: { targets: [{ variable: 'ARGS', selector: null, count: false }], exclusions: [] },
      },
    ],
    ['SecRuleUpdateActionById 1 "pass"', { kind: 'updateActions', actions: { disruptive: { kind: 'pass' } } }],
    ['SecDefaultAction "phase:2,deny,status:403"', { kind: 'defaults', actions: { phase: 2, status: 403 } }],
    ['secruleengine detectionOnly', { kind: 'settings', settings: { ruleEngine: 'DetectionOnly' } }],
    ['SecRequestBodyAccess On', { kind: 'settings', settings: { requestBodyAccess: true } }],
    ['SecRequestBodyLimit 1000', { kind: 'settings', settings: { requestBodyLimit: 1000 } }],
    [
      'SecResponseBodyMimeType text/html Text/Plain',
      {
        kind: 'settings',
        settings: { responseBodyMimeTypes: ['text/html', 'text/plain'] },
      },
    ],
    ['SecResponseBodyMimeTypesClear', { kind: 'settings', settings: { responseBodyMimeTypes: [] } }],
    ['SecAuditLogRelevantStatus "^5"', { kind: 'settings', settings: { auditRelevantStatus: '^5' } }],
  ])('%s', (text, directive) => {
    expect(one(text)).toMatchObject(directive);
  });

  it.each([
    ['SecRulez a', '1:1 unknown directive "SecRulez" | Write SecRule.'],
    ['Include a.conf', '1:1 the directive Include is not supported | Remove it: files do not include others; list'],
    ['<IfModule x>', '1:1 the section "<IfModule" is not supported'],
    ['SecDataDir /tmp', 'warning 1:12 SecDataDir has no effect | Remove it: bodies are held in memory'],
    ['SecRuleEngine', '1:1 SecRuleEngine has no value'],
    ['SecRuleEngine Of', '1:15 unknown value "Of"'],
    ['SecRuleEngine On Off', '1:18 SecRuleEngine has one value'],
    ['SecRequestBodyLimit 0', '1:21 "0" is not a number of bytes'],
    ['SecAction', '1:1 SecAction needs one argument'],
    ['SecRuleRemoveById', '1:1 SecRuleRemoveById names no rule'],
    ['SecRuleRemoveById "1 a"', '1:22 "a" is not an id or a range of ids'],
    ['SecRuleRemoveById 3-2', '1:19 "3-2" is not an id'],
    ['SecRuleUpdateTargetById 1', '1:1 SecRuleUpdateTargetById needs ids and targets'],
    ['SecRuleUpdateTargetByTag a b c', '1:1 SecRuleUpdateTargetByTag needs two arguments'],
    ['SecRuleUpdateActionById 1 "id:2"', '1:1 SecRuleUpdateActionById cannot change id'],
    ['SecDefaultAction "deny"', '1:19 SecDefaultAction has no phase'],
    ['SecDefaultAction "phase:1,log"', '1:19 SecDefaultAction does not say what happens'],
    ['SecDefaultAction "phase:1,pass,t:lowercase"', '1:19 SecDefaultAction cannot set t'],
    ['SecDefaultAction "phase:1,pass,msg:a"', '1:19 SecDefaultAction cannot set msg'],
  ])('are refused: %s', (text, fault) => {
    expect(faults(text)[0]).toContain(fault);
  });

  it('are read behind a fault', () => {
    const { directives, diagnostics } = parse('SecNope 1\nSecMarker A\nSecRule ARGS\nSecMarker B');
    expect(diagnostics.map(({ line }) => line)).toEqual([1, 3]);
    expect(directives).toHaveLength(2);
  });
});
