/** Messages of a server before its answer, for people: progress, and log messages. */
import { get, type Obj } from '../../spec/json.ts';

/** The least severe first (RFC 5424). */
export const SERVER_LOG_LEVELS = [
  ...(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const),
] as const;
export type ServerLogLevel = (typeof SERVER_LOG_LEVELS)[number];

/** Characters of a message that are shown. */
const MOST_SHOWN = 2_000;

/** Replaces control characters, which a terminal would obey: a server may be untrusted. */
export function withoutControls(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, '\ufffd');
}

/** Returns one line without its end; null if there is nothing to show. */
export function messageLine(message: Obj, least: ServerLogLevel | 'off'): string | null {
  const params = get(message, 'params');
  switch (get(message, 'method')) {
    case 'notifications/progress':
      return progressLine(params);
    case 'notifications/message':
      return logLine(params, least);
    default:
      return null;
  }
}

function progressLine(params: unknown): string {
  const [done, total, said] = ['progress', 'total', 'message'].map((name) => get(params, name));
  const figures = [done, total].filter((each) => each !== undefined).map(textOf);
  return `progress ${figures.join('/')}${said === undefined ? '' : `: ${textOf(said)}`}`;
}

/** Servers may say more than they were asked to. */
function logLine(params: unknown, least: ServerLogLevel | 'off'): string | null {
  const level = SERVER_LOG_LEVELS.find((each) => each === get(params, 'level'));
  if (least === 'off' || (level && SERVER_LOG_LEVELS.indexOf(level) < SERVER_LOG_LEVELS.indexOf(least))) return null;
  const logger = get(params, 'logger');
  return `${level ?? 'log'}${logger === undefined ? '' : ` ${textOf(logger)}`}: ${textOf(get(params, 'data'))}`;
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MOST_SHOWN);
}
