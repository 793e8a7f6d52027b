/** Modal dialogs: the browser's own, which traps the focus and gives it back. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Problem } from './problem.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <span aria-hidden="true">✕</span>
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface FormDialogProps extends DialogProps {
  readonly action: string;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onSubmit: () => void;
  readonly danger?: boolean;
}

/** A dialog that asks for something and does it. */
export function FormDialog({ action, busy, error, onSubmit, danger = false, children, ...dialog }: FormDialogProps) {
  return (
    <Dialog {...dialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <div class="dialog-body">
          {children}
          <Problem error={error} />
        </div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={dialog.onClose}>
            Cancel
          </button>
          <button type="submit" class={danger ? 'button danger' : 'button primary'} aria-disabled={busy}>
            {busy ? `${action}…` : action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
