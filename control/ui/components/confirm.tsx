/** Asks before something is done that cannot be taken back. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../data/use-action.ts';
import { announce } from '../shell/announcer.tsx';
import { FormDialog } from './dialog.tsx';

interface ConfirmButtonProps {
  readonly label: string;
  readonly title: string;
  /** Of the button in the dialog. */
  readonly action: string;
  readonly children: ComponentChildren;
  readonly act: () => Promise<unknown>;
  /** Said, and shown for a while, when it is done. */
  readonly done: string;
  readonly onDone: () => void;
}

/** A button that opens the question. */
export function ConfirmButton({ label, title, action, children, act, done, onDone }: ConfirmButtonProps) {
  const [open, setOpen] = useState(false);
  const { run, busy, error, clear } = useAction(async () => {
    await act();
    setOpen(false);
    announce(done);
    onDone();
  });
  const close = () => {
    setOpen(false);
    clear();
  };
  return (
    <>
      <button type="button" class="button small" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {label}
      </button>
      {open && (
        <FormDialog title={title} action={action} danger busy={busy} error={error} onSubmit={run} onClose={close}>
          {children}
        </FormDialog>
      )}
    </>
  );
}
