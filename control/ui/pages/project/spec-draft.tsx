/** A document that is being written, or that the server refused: to be mended and uploaded from here. */
import { useMemo, useState } from 'preact/hooks';
import { ApiError } from '../../../src/client/api-error.ts';
import { faultsOf } from '../../api/describe-error.ts';
import type { BindingDecision, Diagnostic, SpecUpload } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { Problem } from '../../components/problem.tsx';
import { useAction } from '../../data/use-action.ts';
import { dropDraft, keepDraft, ofNewSpec, ofSpec } from '../../editor/drafts.ts';
import { DocumentEditor } from '../../editor/editor.tsx';
import { BindingQuestion, wantsDecision } from './binding-decision.tsx';
import { Diagnostics } from './diagnostics.tsx';
import type { Draft, Refused } from './draft.ts';
import { findingsOf } from './findings.ts';
import { useProject } from './project-context.ts';
import { SpecConflict } from './spec-conflict.tsx';
import { uploadSpec } from './spec-upload.tsx';

interface SpecDraftProps {
  readonly draft: Draft | Refused;
  readonly onSaved: (uploaded: SpecUpload) => void;
  readonly onClose: () => void;
  /** The latest revision is to be shown. */
  readonly onTakeTheirs?: () => void;
}

export function SpecDraft({ draft, onSaved, onClose, onTakeTheirs }: SpecDraftProps) {
  const { project } = useProject();
  const { filename, name, etag, specId, isKept = false } = draft;
  const key = specId === null ? ofNewSpec(project.id) : ofSpec(specId);
  const [text, setText] = useState(draft.text);
  const [at, setAt] = useState<{ line: number; turn: number } | null>(null);
  const [tried, setTried] = useState(false);
  const [lastEtag, setLastEtag] = useState(etag);
  const isChanged = isKept || text !== draft.text;
  const write = (written: string) => {
    setText(written);
    if (isKept || written !== draft.text) keepDraft(key, { filename, name, etag, text: written });
    else dropDraft(key);
  };
  const { run, busy, error } = useAction(async (over: string | null | undefined = etag, bindings?: BindingDecision) => {
    setTried(true);
    setLastEtag(over);
    const uploaded = await uploadSpec(project.id, new File([text], filename), { name, etag: over, bindings });
    dropDraft(key);
    onSaved(uploaded);
  });
  const close = () => {
    dropDraft(key);
    onClose();
  };
  const isOvertaken = tried && error instanceof ApiError && error.status === 412;
  const failure = tried ? error : 'error' in draft ? draft.error : undefined;
  const found = useMemo(
    () =>
      (wantsDecision(failure) ? [] : failure ? diagnosticsOf(failure) : (draft.known ?? [])).map((each) => ({
        ...each,
        file: filename,
      })),
    [failure, filename, draft.known],
  );
  const findings = useMemo(() => findingsOf(found, filename), [found, filename]);
  return (
    <>
      {isOvertaken && specId !== null && (
        <SpecConflict
          specId={specId}
          filename={filename}
          text={text}
          busy={busy}
          onOverwrite={run}
          onTakeTheirs={() => {
            dropDraft(key);
            onTakeTheirs?.();
          }}
        />
      )}
      <div class="document">
        <section class="card grow" aria-label={filename}>
          <DocumentEditor filename={filename} text={draft.text} findings={findings} at={at} onChange={write} />
          <footer class="card-foot">
            {isChanged ? (
              <ConfirmButton
                label="Discard"
                title="Discard what you wrote?"
                action="Discard"
                act={async () => {}}
                done="Discarded."
                onDone={close}
              >
                <p>It is kept nowhere else.</p>
              </ConfirmButton>
            ) : (
              <button type="button" class="button" onClick={close}>
                Close
              </button>
            )}
            <button type="button" class="button primary" aria-disabled={busy} onClick={() => run()}>
              {busy ? 'Uploading…' : 'Upload'}
            </button>
          </footer>
        </section>
        <aside class="findings" aria-label="What is wrong">
          {isKept && !tried && <p class="notice warning">This is what you wrote before: it is not uploaded yet.</p>}
          {wantsDecision(failure) ? (
            <BindingQuestion error={failure} busy={busy} onDecide={(decision) => run(lastEtag, decision)} />
          ) : (
            failure !== undefined && found.length === 0 && <Problem error={failure} />
          )}
          {found.length > 0 && (
            <div role={failure ? 'alert' : undefined}>
              <p class="strong">{failure ? 'The spec is not valid yet.' : 'Of the last compilation:'}</p>
              <Diagnostics
                diagnostics={found}
                place={({ line }) =>
                  line === undefined ? null : { go: () => setAt((last) => ({ line, turn: (last?.turn ?? 0) + 1 })) }
                }
              />
            </div>
          )}
          {failure === undefined && found.length === 0 && (
            <p class="muted">Uploading makes a new revision. Bindings of plugins are checked when it is compiled.</p>
          )}
        </aside>
      </div>
    </>
  );
}

/** A draft is one document: all diagnostics are about it, whatever its name in the compilation. */
function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  return faultsOf(error).map(({ code = '', severity = 'error', ...fault }) => ({ ...fault, code, severity }));
}
