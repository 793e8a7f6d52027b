/** Directives that set how the engine works. */

import { oneOf } from './controls.ts';
import { quoted } from './diagnostics.ts';
import type { Settings } from './model.ts';
import { PartFault } from './part-fault.ts';
import { translatePattern } from './patterns.ts';

type Read = (text: string, texts: readonly string[]) => Settings;

const SETTINGS: Readonly<Record<string, Read>> = {
  SecArgumentsLimit: (text) => ({ argumentsLimit: numberOf(text, 'number of arguments') }),
  SecAuditEngine: (text) => ({ auditEngine: oneOf(['On', 'Off', 'RelevantOnly'], text) }),
  SecAuditLogRelevantStatus: (text) => ({ auditRelevantStatus: translatePattern(text) }),
  SecComponentSignature: (text) => ({ componentSignatures: [text] }),
  SecRequestBodyAccess: (text) => ({ requestBodyAccess: isOn(text) }),
  SecRequestBodyJsonDepthLimit: (text) => ({ requestBodyJsonDepthLimit: numberOf(text, 'depth') }),
  SecRequestBodyLimit: (text) => ({ requestBodyLimit: numberOf(text, 'number of bytes') }),
  SecRequestBodyLimitAction: (text) => ({ requestBodyLimitAction: oneOf(['Reject', 'ProcessPartial'], text) }),
  SecRequestBodyNoFilesLimit: (text) => ({ requestBodyNoFilesLimit: numberOf(text, 'number of bytes') }),
  SecResponseBodyAccess: (text) => ({ responseBodyAccess: isOn(text) }),
  SecResponseBodyLimit: (text) => ({ responseBodyLimit: numberOf(text, 'number of bytes') }),
  SecResponseBodyLimitAction: (text) => ({ responseBodyLimitAction: oneOf(['Reject', 'ProcessPartial'], text) }),
  SecResponseBodyMimeType: (_, texts) => ({ responseBodyMimeTypes: texts.map((each) => each.toLowerCase()) }),
  SecResponseBodyMimeTypesClear: () => ({ responseBodyMimeTypes: [] }),
  SecRuleEngine: (text) => ({ ruleEngine: oneOf(['On', 'Off', 'DetectionOnly'], text) }),
};

export const SETTING_NAMES = Object.keys(SETTINGS);

/** Throws PartFault for a wrong value. `name`: one of SETTING_NAMES. */
export function parseSetting(name: string, texts: readonly string[]): Settings {
  if (texts.length > 1 && name !== 'SecResponseBodyMimeType')
    throw new PartFault(0, `${name} has one value`, `Remove ${quoted(texts.at(-1) ?? '')}.`);
  return SETTINGS[name]?.(texts.at(-1) ?? '', texts) ?? {};
}

function isOn(text: string): boolean {
  return oneOf(['On', 'Off'], text) === 'On';
}

function numberOf(text: string, what: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new PartFault(0, `${quoted(text)} is not a ${what}`, 'Write a whole number from 1.');
}
