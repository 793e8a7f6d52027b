/**
 * Compares the engine with Coraza on rules that the Core Rule Set does not have, and prints what differs: `node
 * test/waf/compare-rules.ts ENGINE [ORACLE]`. Rules have no `setvar:!tx.x`, which makes Coraza panic.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recommendedFile } from '../../gateway/features/waf/seclang/crs.test-support.ts';
import { encodedProgram } from './frames.ts';
import { askEngine } from './native-engine.ts';
import { askOracle, buildOracle, type OracleRequest } from './oracle.ts';

const FORM: readonly [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];

function get(target: string, headers: readonly (readonly [string, string])[] = []): OracleRequest {
  const all = [['Host', 'a.example'] as const, ...headers];
  const response = {
    status: 200,
    headers: [['Content-Type', 'text/html'] as const],
    body: Buffer.from('<b>secret</b>'),
  };
  return { id: '', method: 'GET', target, version: 'HTTP/1.1', headers: all, body: Buffer.alloc(0), response };
}

function post(body: string, type: readonly [string, string] = FORM): OracleRequest {
  return { ...get('/a?q=1', [type, ['Content-Length', String(body.length)]]), method: 'POST', body: Buffer.from(body) };
}

const REST = `
SecRule ARGS "@rx ." "id:90,phase:1,pass"
SecRule ARGS "@rx ." "id:91,phase:2,pass"
SecRule RESPONSE_STATUS "@eq 200" "id:92,phase:3,pass"
SecRule RESPONSE_BODY "@contains secret" "id:93,phase:4,pass"
SecAction "id:94,phase:5,pass"`;

/** Rules by a title. */
const RULES: Readonly<Record<string, string>> = {
  'deny in phase 1': `SecRule ARGS:a "@streq 1" "id:1,phase:1,deny,status:406"${REST}`,
  'deny in phase 4': `SecRule RESPONSE_BODY "@rx secret" "id:1,phase:4,deny"${REST}`,
  drop: `SecRule ARGS:a "@streq 1" "id:1,phase:2,drop,status:418"${REST}`,
  redirect: `SecRule ARGS:a "@streq 1" "id:1,phase:1,redirect:https://b.example/,status:301"${REST}`,
  allow: `SecRule ARGS:a "@streq 1" "id:1,phase:1,allow"${REST}`,
  'allow:phase': `SecRule ARGS:a "@streq 1" "id:1,phase:1,allow:phase"${REST}`,
  'allow:request': `SecRule ARGS:a "@streq 1" "id:1,phase:1,allow:request"${REST}`,
  'allow in phase 3': `SecRule RESPONSE_STATUS "@eq 200" "id:1,phase:3,allow"${REST}`,
  skip: `
SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,skip:2"
SecAction "id:2,phase:1,pass"
SecAction "id:3,phase:2,pass"
SecAction "id:4,phase:1,pass"
SecAction "id:5,phase:1,pass"`,
  'skip past the end':
    'SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,skip:9"\nSecAction "id:2,phase:1,pass"\nSecAction "id:3,phase:2,pass"',
  skipAfter: `
SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,skipAfter:END"
SecAction "id:2,phase:1,pass"
SecAction "id:3,phase:2,pass"
SecMarker END
SecAction "id:4,phase:1,pass"`,
  'ctl removes rules': `
SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,ctl:ruleRemoveById=2-3,ctl:ruleRemoveByTag=x"
SecAction "id:2,phase:1,pass"
SecAction "id:3,phase:2,pass"
SecAction "id:4,phase:2,pass,tag:x"
SecAction "id:5,phase:2,pass"`,
  'ctl removes targets': `
SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,ctl:ruleRemoveTargetById=2;ARGS:a,ctl:ruleRemoveTargetByTag=x;ARGS"
SecRule ARGS "@streq 1" "id:2,phase:1,pass"
SecRule ARGS|ARGS_NAMES "@rx ^[12a]$" "id:3,phase:2,pass,tag:x,setvar:tx.n=+1"
SecRule TX:n "@eq 1" "id:4,phase:2,pass"
SecRule TX:n "@gt 1" "id:5,phase:2,pass"`,
  'ctl switches the engine off': `SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,ctl:ruleEngine=Off"\nSecAction "id:2,phase:1,deny"${REST}`,
  'ctl detects only': `SecRule ARGS:a "@streq 1" "id:1,phase:1,pass,ctl:ruleEngine=DetectionOnly"\nSecAction "id:2,phase:1,deny"${REST}`,
  exclusions: `
SecRule ARGS|!ARGS:a "@rx ." "id:1,phase:2,pass"
SecRule ARGS|!ARGS:/^[ab]$/ "@rx ." "id:2,phase:2,pass"
SecRule &ARGS "@eq 2" "id:3,phase:2,pass"
SecRule &ARGS|!ARGS:a "@eq 1" "id:4,phase:2,pass"`,
  'names in upper case': `SecRule ARGS:/^A$/ "@rx ." "id:5,phase:2,pass"`,
  chains: `
SecRule ARGS:a "@streq 1" "id:1,phase:2,pass,capture,setvar:tx.x=%{MATCHED_VAR},chain"
SecRule ARGS:b "@streq 2" "setvar:tx.y=%{ARGS.b}"
SecRule TX:x "@streq 1" "id:2,phase:2,pass"
SecRule TX:y "@streq 2" "id:3,phase:2,pass"
SecRule MATCHED_VARS_NAMES "@contains TX" "id:4,phase:2,pass"`,
  'captures of phrases': `
SecRule ARGS "@pm one two" "id:1,phase:2,pass,capture,setvar:tx.x=%{TX.0}-%{TX.1}-%{TX.2}"
SecRule TX:x "@streq one-two-" "id:2,phase:2,pass"
SecRule TX:x "@streq one-two-two" "id:3,phase:2,pass"
SecRule TX:x "@streq one--" "id:4,phase:2,pass"
SecRule TX:x "@streq two--" "id:5,phase:2,pass"`,
  'overlapping phrases': `
SecRule ARGS "@pm one two onetwo" "id:1,phase:2,pass,capture,setvar:tx.x=%{TX.0}-%{TX.1}"
SecRule TX:x "@streq onetwo-two" "id:2,phase:2,pass"`,
  'captures of patterns': `
SecRule ARGS "@rx (o)(x)?(n)" "id:1,phase:2,pass,capture,setvar:tx.x=%{TX.0}-%{TX.1}-%{TX.2}-%{TX.3}"
SecRule TX:x "@streq on-o--n" "id:2,phase:2,pass"`,
  sums: `
SecAction "id:1,phase:1,pass,setvar:tx.a=5,setvar:tx.a=+3,setvar:tx.b=-2,setvar:tx.c=x,setvar:tx.c=+1,setvar:tx.d=1"
SecAction "id:2,phase:1,pass,setvar:tx.e=%{tx.a},setvar:tx.e=+%{tx.b},setvar:tx.f=+%{tx.nothing}"
SecRule TX:a "@eq 8" "id:3,phase:1,pass"
SecRule TX:b "@eq -2" "id:4,phase:1,pass"
SecRule TX:c "@streq x" "id:5,phase:1,pass"
SecRule &TX:d "@eq 1" "id:6,phase:1,pass"
SecRule TX:e "@eq 6" "id:7,phase:1,pass"
SecRule TX:e "!@within 5 6" "id:8,phase:1,pass"`,
  operators: `
SecRule ARGS "@beginsWith on" "id:1,phase:2,pass"
SecRule ARGS "@endsWith wo" "id:2,phase:2,pass"
SecRule ARGS "@strmatch net" "id:3,phase:2,pass"
SecRule ARGS "@noMatch" "id:4,phase:2,pass"
SecRule ARGS "!@noMatch" "id:5,phase:2,pass"
SecRule ARGS "@validateByteRange 48-57" "id:6,phase:2,pass"
SecRule ARGS "@within 12one" "id:7,phase:2,pass"
SecRule REMOTE_ADDR "@ipMatch 127.0.0.0/8,::1" "id:8,phase:1,pass"
SecRule REMOTE_ADDR "@ipMatch 10.0.0.0/8" "id:9,phase:1,pass"
SecRule ARGS "@rx ^two$" "id:10,phase:2,pass"
SecRule ARGS "@unconditionalMatch" "id:11,phase:2,pass"`,
  multiMatch: `
SecRule ARGS "@rx ^A$" "id:1,phase:2,pass,t:lowercase,multiMatch,setvar:tx.n=+1"
SecRule ARGS "@rx ^.$" "id:2,phase:2,pass,t:none,t:lowercase,t:uppercase,t:hexDecode,multiMatch,setvar:tx.m=+1"
SecRule TX:n "@eq 1" "id:3,phase:2,pass"
SecRule TX:m "@ge 3" "id:4,phase:2,pass"`,
};

/** Reasons for differences, by the title of the rules; those under other titles are faults. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'names in upper case': 'Coraza matches patterns of names with names in lower case; ModSecurity ignores their case',
  'overlapping phrases': 'Coraza captures phrases that overlap; ModSecurity captures the first one only',
};

const REQUESTS: readonly OracleRequest[] = [
  get('/'),
  get('/a?a=1'),
  get('/a?a=1&b=2'),
  get('/a?a=2&c=onetwo'),
  get('/a?c=onetwo+two&A=x'),
  get('/a?c=A'),
  get('/a?c=x%0atwo%0a'),
  post('a=1&b=2'),
  post('{"a":[1,{"b":null}],"c":"one"}', ['Content-Type', 'application/json']),
];

const [engine = '', oracle = buildOracle()] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'gw-waf-'));
let [differences, explained] = [0, 0];
try {
  for (const [title, rules] of Object.entries(RULES)) {
    const file = join(folder, 'rules.conf');
    writeFileSync(file, `${rules}\n`);
    const expected = askOracle(oracle, ['--block', '--rules', file], REQUESTS);
    const program = encodedProgram([recommendedFile(), { name: title, bytes: Buffer.from(`${rules}\n`) }]);
    const found = askEngine(engine, program, REQUESTS, { blocks: true, tellsAll: true });
    for (const [index, { all, status = 0, by = 0 }] of expected.entries()) {
      const verdict = found[index];
      const denial = verdict?.outcome === 'refused' ? [verdict.status, verdict.rule] : [0, 0];
      const [ours, coraza] = [
        `${verdict?.matches.map(({ id }) => id)} denied ${denial}`,
        `${all} denied ${[status, by]}`,
      ];
      if (ours === coraza) continue;
      const reason = EXPLAINED[title];
      if (reason === undefined) differences++;
      else explained++;
      console.log(`${title}, request ${index}: ${ours}; Coraza ${coraza}${reason === undefined ? '' : ` (${reason})`}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${differences} differences, and ${explained} that are explained`);
