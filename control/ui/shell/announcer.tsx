/** Says what has happened: shown for a while, and read out by screen readers. */
import { signal } from '@preact/signals';

const message = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** A sentence. */
export function announce(text: string): void {
  clearTimeout(timer);
  message.value = text;
  timer = setTimeout(() => {
    message.value = '';
  }, 5000);
}

export function Announcer() {
  return (
    <div class={message.value === '' ? 'announcer' : 'announcer shown'} role="status" aria-live="polite">
      {message.value}
    </div>
  );
}
