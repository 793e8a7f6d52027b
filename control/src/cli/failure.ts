/** Exit codes and messages of failed commands. */
import { printable } from '@gw/gateway/command-line';
import { diagnosticLine } from '@gw/gateway/diagnostic-line';
import { messageOf } from '@gw/gateway/message-of';
import { CommanderError } from 'commander';
import { ApiError } from '../client/api-error.ts';

/** Also for invalid command lines (docs/decisions.md#exit-codes). */
const EXIT_FAILURE = 1;
/** A compilation that was waited for failed, or a deployment did not succeed. */
const EXIT_OUTCOME = 3;

/** The outcome was printed already. */
export class OutcomeFailure extends Error {}

/** Returns the text for standard error, and the exit code. */
export function failureOf(error: unknown): { readonly text: string; readonly code: number } {
  // Commander has printed it.
  if (error instanceof CommanderError) return { text: '', code: error.exitCode === 0 ? 0 : EXIT_FAILURE };
  if (error instanceof OutcomeFailure) return { text: '', code: EXIT_OUTCOME };
  const message = messageOf(error);
  const faults = error instanceof ApiError ? (error.problem?.errors ?? []).map(faultLine) : [];
  const request = error instanceof ApiError && error.status >= 500 ? requestLine(error) : [];
  const hint =
    error instanceof ApiError && error.status === 401
      ? ['set GW_CONTROL_TOKEN, or a context: gw-control context set NAME --server URL --token-stdin']
      : [];
  const lines = [`gw-control: ${message}`, ...[...faults, ...request, ...hint].map((line) => `  ${line}`)];
  return { text: `${lines.map(printable).join('\n')}\n`, code: EXIT_FAILURE };
}

function faultLine(fault: Readonly<Record<string, unknown>>): string {
  const { code, severity, file, line, column, pointer, message, hint } = fault;
  if (typeof code === 'string' && typeof message === 'string') {
    return diagnosticLine({
      ...{ code, message, severity: typeof severity === 'string' ? severity : 'error' },
      ...(typeof hint === 'string' ? { hint } : {}),
      ...(typeof file === 'string' ? { file } : {}),
      ...(typeof line === 'number' ? { line } : {}),
      ...(typeof column === 'number' ? { column } : {}),
    });
  }
  const text = [pointer, code, message].filter((each) => each !== undefined && each !== '').join(' ');
  return typeof hint === 'string' ? `${text} (${hint})` : text;
}

function requestLine({ problem }: ApiError): string[] {
  return problem?.request_id ? [`the server's log says more under ${problem.request_id}`] : [];
}
