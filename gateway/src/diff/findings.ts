/**
 * Turns findings about schemas into changes for clients: their requests must be admitted, their answers must not be
 * new.
 */
import { breaking, type Change, harmless } from './change.ts';
import type { Effect, Finding } from './schema-values.ts';

export function inRequest(subject: string, where: string, findings: readonly Finding[]): readonly Change[] {
  return changes(subject, where, findings, 'widened');
}

export function inResponse(subject: string, where: string, findings: readonly Finding[]): readonly Change[] {
  return changes(subject, where, findings, 'narrowed');
}

function changes(subject: string, where: string, findings: readonly Finding[], good: Effect): readonly Change[] {
  return findings.map(({ at, effect, what }) => {
    const message = `${where}${at === '' ? '' : ` ${at}`}: ${what}`;
    return effect === good || effect === 'named' ? harmless(subject, message) : breaking(subject, message);
  });
}
