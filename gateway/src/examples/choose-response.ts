/** Which of the responses of a description is answered with. */
import type { DescribedResponse } from '../artifact/format.ts';

export interface ChosenResponse {
  readonly status: number;
  /** As the document names it: `200`, `4XX` or `default`. */
  readonly name: string;
  readonly response: DescribedResponse;
}

/** Responses by status code, `4XX` or `DEFAULT`. */
export type Described = Readonly<Record<string, DescribedResponse>>;

/** Default status of a config. */
const USUAL = 200;

const DEFAULT = 'DEFAULT';
export const documentName = (key: string) => (key === DEFAULT ? 'default' : key);

/** Returns the response for a status; null if it is not described. */
export function responseOf(described: Described, status: number): ChosenResponse | null {
  const names = [String(status), `${Math.floor(status / 100)}XX`, DEFAULT];
  const key = names.find((each) => described[each] !== undefined);
  const response = key === undefined ? undefined : described[key];
  return key === undefined || response === undefined ? null : { status, name: documentName(key), response };
}

/** Returns the default response: the lowest success, else the default one, else the lowest of all. */
export function usualResponse(described: Described): ChosenResponse | null {
  const statuses = Object.keys(described)
    .map((name) => (name.endsWith('XX') ? `${name[0]}00` : name))
    .filter((name) => /^[2-5]\d\d$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
  const success = statuses.find((status) => status < 300);
  if (success !== undefined) return responseOf(described, success);
  if (described[DEFAULT]) return responseOf(described, USUAL);
  return statuses[0] === undefined ? null : responseOf(described, statuses[0]);
}

/** Returns the response for the status in a config; a config without one has 200. */
export function configuredResponse(described: Described, status: number): ChosenResponse | null {
  const exact =
    status === USUAL ? described[String(USUAL)] && responseOf(described, USUAL) : responseOf(described, status);
  return exact ?? (status === USUAL ? usualResponse(described) : null);
}
