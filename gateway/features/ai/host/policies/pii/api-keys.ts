/** API keys of services, by the prefixes of their issuers. */
import { type Detector, endsWord, isAlphanumeric, NONE, runEnd, UNDECIDED } from './detector.ts';

/** Longest key, in characters: signed tokens carry claims; a longer text is not a key. */
const MOST = 4096;
const isKey = (code: number) => isAlphanumeric(code) || code === 0x2d || code === 0x5f || code === 0x2e;

const KEYS: readonly RegExp[] = [
  // OpenAI, Anthropic and others; Stripe.
  /^sk-(?:[a-z]{2,10}-)?[A-Za-z0-9_-]{20,}/,
  /^[spr]k_(?:live|test)_[A-Za-z0-9]{16,}/,
  // AWS, Google, GitHub, GitLab, Slack, npm, Hugging Face, SendGrid, DigitalOcean.
  /^(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9_-])/,
  /^AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/,
  /^gh[pousr]_[A-Za-z0-9]{36,}/,
  /^github_pat_[A-Za-z0-9_]{22,}/,
  /^glpat-[A-Za-z0-9_-]{20,}/,
  /^xox[abeprs]-[A-Za-z0-9-]{10,}/,
  /^npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_-])/,
  /^hf_[A-Za-z0-9]{30,}/,
  /^SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}/,
  /^do[opr]_v1_[a-f0-9]{64}/,
  // A signed token (RFC 7515).
  /^eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
];
const FIRST = new Set('sprAgxnhSde');

export const apiKey: Detector = ({ text, isWhole }, at, before) => {
  if (!FIRST.has(text.charAt(at)) || endsWord(before) || before === '-' || before === '.') return NONE;
  const end = runEnd(text, at, MOST, isKey);
  if (end === text.length && !isWhole && end - at < MOST) return UNDECIDED;
  const run = text.slice(at, end);
  for (const key of KEYS) {
    const [found] = key.exec(run) ?? [];
    if (found !== undefined) return found.length;
  }
  return NONE;
};
