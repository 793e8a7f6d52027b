/** A secret that the server shows this one time. */
import { Dialog } from './dialog.tsx';
import { CopyButton } from './values.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly secret: string;
  readonly what: string;
  readonly onClose: () => void;
}

export function ShownOnce({ title, secret, what, onClose }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        <p>Keep it now: only a hash of it is stored, and it is never shown again.</p>
        <div class="command">
          <code class="secret">{secret}</code>
          <CopyButton text={secret} what={what} />
        </div>
      </div>
      <footer class="dialog-foot">
        <button type="button" class="button primary" onClick={onClose}>
          I have kept it
        </button>
      </footer>
    </Dialog>
  );
}
