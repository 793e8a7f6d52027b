/** The kinds of personal data that policies know. */
import { apiKey } from './api-keys.ts';
import { email, phone } from './contact.ts';
import type { Detector } from './detector.ts';
import { nationalId } from './identity.ts';
import { card, iban } from './money.ts';

export const PII_KINDS = ['email', 'phone', 'card', 'iban', 'national_id', 'api_key'] as const;
export type PiiKind = (typeof PII_KINDS)[number];

/** Of two matches of the same length, the first one counts. */
export const DETECTORS: Readonly<Record<PiiKind, Detector>> = {
  card,
  iban,
  national_id: nationalId,
  email,
  api_key: apiKey,
  phone,
};
