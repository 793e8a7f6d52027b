/** How times, hashes, sizes, states and commands look everywhere. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { announce } from '../shell/announcer.tsx';

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Number.POSITIVE_INFINITY],
];

/** How long ago, or how soon, with the time itself as its title. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((last) => last + 1), 15_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span class="muted">never</span>;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {relative((Date.parse(at) - Date.now()) / 1000)}
    </time>
  );
}

function relative(seconds: number): string {
  if (Math.abs(seconds) < 5) return 'just now';
  let value = seconds;
  for (const [unit, size] of UNITS) {
    if (Math.abs(value) < size) return RELATIVE.format(Math.round(value), unit);
    value /= size;
  }
  return '';
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** As many characters of a hash or id as tell it from others; the whole is its title. */
export function Hash({ value }: { readonly value: string | null | undefined }) {
  if (!value) return <span class="muted">none</span>;
  return (
    <code class="hash" title={value}>
      {/* Ids begin with the time: those of one day differ at their end. */}
      {UUID.test(value) ? value.slice(-10) : value.replace(/^sha256:/, '').slice(0, 10)}
    </code>
  );
}

export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

const TONES: Readonly<Record<string, 'good' | 'bad' | 'busy' | 'warn' | 'quiet'>> = {
  ...{ succeeded: 'good', connected: 'good', applied: 'good', enabled: 'good', active: 'good' },
  ...{ failed: 'bad', refused: 'bad', timed_out: 'bad', incompatible: 'bad', error: 'bad' },
  ...{ pending: 'quiet', compiling: 'busy', in_progress: 'busy', notified: 'busy' },
  ...{ drifted: 'warn', rolled_back: 'warn', warning: 'warn' },
};

/** A state in words, with a colour that says no more than they do. */
export function Status({ value }: { readonly value: string }) {
  return <span class={`status ${TONES[value] ?? 'quiet'}`}>{value.replaceAll('_', ' ')}</span>;
}

/** A command to be copied. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} what="command" />
    </div>
  );
}

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        announce(`Copied the ${what}.`);
        setTimeout(() => setCopied(false), 2000);
      },
      () => announce(`The browser does not let the ${what} be copied: select it, and copy it by hand.`),
    );
  return (
    <button type="button" class="button small" aria-label={`Copy the ${what}`} onClick={copy}>
      {copied ? 'Copied' : 'Copy'}
    </button>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** There is nothing here, and what to do about it. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
