/** A trace for people: a line a stage. */

import { printable } from '../../text/printable.ts';
import type { TraceReport } from '../../trace/report.ts';
import { table } from '../command-line/table.ts';

export function renderTrace({ operation, stages, response, ...report }: TraceReport): string {
  const rows = stages.map(({ stage, outcome, detail, duration_ms, depth }) => [
    `${'  '.repeat(depth)}${stage}`,
    outcome,
    duration_ms === undefined ? '' : `${duration_ms.toFixed(2)} ms`,
    detail ?? '',
  ]);
  const head = [
    `artifact   ${report.artifact_hash}`,
    `request    ${report.request_id} (trace ${report.trace_id})`,
    `operation  ${operation ? `${operation.path}${operation.operation_id ? ` ${operation.operation_id}` : ''} of ${operation.api}` : 'none'}`,
  ];
  const headers = response.headers.map(([name, value]) => `< ${name}: ${value}`);
  const body = response.body === '' ? [] : ['', ...response.body.split('\n')];
  const more = response.truncated ? [`… ${response.body_bytes} bytes so far`] : [];
  return [
    ...head.map(printable),
    '',
    table([['STAGE', 'OUTCOME', 'TIME', 'DETAIL'], ...rows]),
    `< ${response.status} after ${report.duration_ms.toFixed(2)} ms`,
    ...[...headers, ...body, ...more].map(printable),
    '',
  ].join('\n');
}
