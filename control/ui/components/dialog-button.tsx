/** Buttons that ask for something in a dialog, and then do it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../data/use-action.ts';
import { announce } from '../shell/announcer.tsx';
import { FormDialog } from './dialog.tsx';

/** Values of the fields of a dialog. */
interface Form<V> {
  readonly values: V;
  readonly set: (change: Partial<V>) => void;
}

interface ActionDialogProps<V, R> {
  readonly title: string;
  /** Label of the button in the dialog. */
  readonly action: string;
  readonly danger?: boolean;
  /** Values of the fields when the dialog opens. */
  readonly start: V;
  readonly act: (values: V) => Promise<R>;
  /** Called once the dialog is closed. */
  readonly onDone: (result: R) => void;
  readonly children: (form: Form<V>) => ComponentChildren;
}

interface DialogButtonProps<V, R> extends ActionDialogProps<V, R> {
  readonly label: string;
  readonly primary?: boolean;
}

export function DialogButton<V, R>({ label, primary = false, ...dialog }: DialogButtonProps<V, R>) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class={primary ? 'button primary' : 'button small'}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {open && <ActionDialog {...dialog} onClose={() => setOpen(false)} />}
    </>
  );
}

function ActionDialog<V, R>({
  start,
  act,
  onDone,
  onClose,
  children,
  ...dialog
}: ActionDialogProps<V, R> & { readonly onClose: () => void }) {
  const [values, setValues] = useState(start);
  const { run, busy, error } = useAction(async () => {
    const result = await act(values);
    onClose();
    onDone(result);
  });
  return (
    <FormDialog {...dialog} busy={busy} error={error} onSubmit={run} onClose={onClose}>
      {children({ values, set: (change) => setValues((last) => ({ ...last, ...change })) })}
    </FormDialog>
  );
}

interface ConfirmButtonProps {
  readonly label: string;
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  readonly act: () => Promise<unknown>;
  /** Said, and shown for a while, when it is done. */
  readonly done: string;
  readonly onDone: () => void;
}

/** Asks before something is done that cannot be taken back. */
export function ConfirmButton({ children, done, onDone, ...dialog }: ConfirmButtonProps) {
  const finish = () => {
    announce(done);
    onDone();
  };
  return (
    <DialogButton {...dialog} danger start={{}} onDone={finish}>
      {() => children}
    </DialogButton>
  );
}
