/** `/log-level` of the admin port: reads and changes what is logged, until the process ends. */
import type { Exchange } from '../exchange.ts';
import { problem } from '../problems.ts';
import { isObject } from '../spec/json.ts';
import { type Level, LOG_LEVELS, type Log } from '../telemetry/log.ts';
import { jsonPage, type Page, problemPage } from './page.ts';

export interface LogLevelState {
  readonly log: Pick<Log, 'level' | 'configuredLevel'>;
  setLogLevel(level: Level): Promise<void>;
}

/** Bytes of a body that is read. */
const MOST_BODY = 1024;

export function logLevelPage({ log }: LogLevelState): Page {
  return jsonPage(200, { level: log.level, configured: log.configuredLevel });
}

/** Takes `{"level": "debug"}`. */
export async function changeLogLevel(x: Exchange, state: LogLevelState): Promise<Page> {
  const level = levelOf(await bodyOf(x));
  if (level === undefined) {
    return problemPage(problem('validation-failed', `Send {"level": "debug"}: one of ${LOG_LEVELS.join(', ')}.`));
  }
  await state.setLogLevel(level);
  return logLevelPage(state);
}

function levelOf(text: string): Level | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? LOG_LEVELS.find((each) => each === value['level']) : undefined;
  } catch {
    return undefined;
  }
}

/** Empty where it is too large to be meant. */
async function bodyOf({ bodyStream }: Exchange): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (bodyStream ?? []) as AsyncIterable<Uint8Array>) {
    if (bodyStream !== null && bodyStream.received > MOST_BODY) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
