/** The report for people: a table for each operation, then the exclusions as YAML. */
import { printable, printableLines } from '../../text/printable.ts';
import { table } from '../command-line/table.ts';
import { MOST_NETWORKS } from './audit-counts.ts';
import type { AuditReport, OperationReport, RuleReport } from './audit-report.ts';
import type { Exclusion } from './exclusions.ts';

const COLUMNS = ['RULE', 'VARIABLE', 'REQUESTS', 'REFUSED', 'NETWORKS', 'MESSAGE'];
/** Rows of an operation; the JSON has all. */
const MOST_ROWS = 20;

export function reportText(report: AuditReport): string {
  const { requests, refused, from, to, operations, left_out: leftOut } = report;
  const head = `${requestsText(requests)} with the member waf, from ${from} to ${to}; refused, or would be: ${refused}`;
  const more = leftOut > 0 ? `\n${leftOut} more matches were left out: read a shorter log\n` : '';
  return `${printable(head)}\n${operations.map(operationText).join('')}${more}${exclusionsText(report)}`;
}

function operationText(operation: OperationReport): string {
  const { method, route, api, outcomes, rules, examples } = operation;
  const counted = Object.entries(outcomes).flatMap(([outcome, count]) => (count > 0 ? [`${count} ${outcome}`] : []));
  const head = `${method} ${route} of ${api}: ${counted.join(', ')}; ${networksText(operation.networks)}`;
  const rows = rules.flatMap(rowsOf);
  const left = rows.length > MOST_ROWS ? `${rows.length - MOST_ROWS} more rows: --format json\n` : '';
  const shown = rows.length === 0 ? '' : table([COLUMNS, ...rows.slice(0, MOST_ROWS)]);
  const named = examples.map(
    ({ time, request_id: id, path, inbound, outbound, rules: ids }) =>
      `${time} ${id} ${path}: scores ${inbound} inbound, ${outbound} outbound; rules ${ids.join(', ')}`,
  );
  const lines = named.map((line) => `such as ${printable(line)}\n`);
  return `\n${printable(head)}\n${indented([shown, left, ...lines].join(''))}`;
}

function rowsOf({ id, msg, variables }: RuleReport): readonly (readonly string[])[] {
  return variables.map(({ variable, requests, refused, networks }) => {
    const counted = [requests, refused, networks === MOST_NETWORKS ? `${networks}+` : networks];
    return [String(id), variable, ...counted.map(String), msg];
  });
}

function networksText(networks: number): string {
  if (networks === 1) return 'from 1 network';
  return `from ${networks}${networks === MOST_NETWORKS ? ' or more' : ''} networks`;
}

function exclusionsText({ exclusions, operations }: AuditReport): string {
  if (exclusions.length === 0) return '';
  const head = 'For the config of waf, as far as these requests are harmless:';
  const items = exclusions.map((each) => `${commentOf(each, operations)}${itemOf(each)}`);
  return `\n${head}\n\nexclusions:\n${indented(items.join(''))}`;
}

/** The requests that it is for: of one network only, they may be an attack. */
function commentOf({ rules, operations, parameters }: Exclusion, all: readonly OperationReport[]): string {
  const covered = all
    .filter(({ method, route }) => operations.includes(`${method} ${route}`))
    .flatMap((operation) => operation.rules.filter(({ id }) => rules.includes(id)))
    .flatMap((rule) => rule.variables)
    .filter(
      ({ exclusion }) => parameters === undefined || exclusion.parameters?.every((each) => parameters.includes(each)),
    );
  const requests = Math.max(...covered.map((each) => each.requests));
  const networks = Math.max(...covered.map((each) => each.networks));
  return `# ${requestsText(requests)} ${networksText(networks)}${networks === 1 ? ': make sure that it is no attack' : ''}\n`;
}

/** Members of JSON are YAML, too. */
function itemOf({ rules, operations, parameters }: Exclusion): string {
  const listed = Object.entries({ rules, operations, parameters }).flatMap(([name, values]) =>
    values === undefined ? [] : [`${name}: [${values.map((each) => JSON.stringify(each)).join(', ')}]`],
  );
  return printableLines(`- { ${listed.join(', ')} }\n`);
}

function requestsText(requests: number): string {
  return requests === 1 ? '1 request' : `${requests} requests`;
}

function indented(lines: string): string {
  return lines.replaceAll(/^(?=.)/gm, '  ');
}
