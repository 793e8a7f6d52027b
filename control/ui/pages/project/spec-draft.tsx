/** A document that is being written, or that the server refused: to be mended and uploaded from here. */
import { useMemo, useState } from 'preact/hooks';
import { ApiError } from '../../api/problem.ts';
import type { Diagnostic, SpecUpload } from '../../api/types.ts';
import { Problem } from '../../components/problem.tsx';
import { useAction } from '../../data/use-action.ts';
import { DocumentEditor } from '../../editor/editor.tsx';
import { Diagnostics } from './diagnostics.tsx';
import { findingsOf } from './findings.ts';
import { useProject } from './project-context.ts';
import { uploadSpec } from './spec-upload.tsx';

export interface Draft {
  readonly filename: string;
  readonly text: string;
  /** Of the spec, where it is not what the file's name says. */
  readonly name?: string;
  /** Of the revision that it began from. */
  readonly etag?: string | null;
  /** What the compiler said of the revision that it began from. */
  readonly known?: readonly Diagnostic[];
}

export interface Refused extends Draft {
  readonly error: ApiError;
}

interface SpecDraftProps {
  readonly draft: Draft | Refused;
  readonly onSaved: (uploaded: SpecUpload) => void;
  readonly onClose: () => void;
}

export function SpecDraft({ draft, onSaved, onClose }: SpecDraftProps) {
  const { project } = useProject();
  const { filename, name, etag } = draft;
  const [text, setText] = useState(draft.text);
  const [at, setAt] = useState<{ line: number; turn: number } | null>(null);
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useAction(async () => {
    setTried(true);
    onSaved(await uploadSpec(project.id, new File([text], filename), name, etag));
  });
  const failure = tried ? error : 'error' in draft ? draft.error : undefined;
  const found = useMemo(
    () => (failure ? diagnosticsOf(failure) : (draft.known ?? [])).map((each) => ({ ...each, file: filename })),
    [failure, filename, draft.known],
  );
  const findings = useMemo(() => findingsOf(found, filename), [found, filename]);
  return (
    <div class="document">
      <section class="card grow" aria-label={filename}>
        <DocumentEditor filename={filename} text={draft.text} findings={findings} at={at} onChange={setText} />
        <footer class="card-foot">
          <button type="button" class="button" onClick={onClose}>
            Discard
          </button>
          <button type="button" class="button primary" aria-disabled={busy} onClick={run}>
            {busy ? 'Uploading…' : 'Upload'}
          </button>
        </footer>
      </section>
      <aside class="findings" aria-label="What is wrong">
        {failure !== undefined && found.length === 0 && <Problem error={failure} />}
        {found.length > 0 && (
          <div role={failure ? 'alert' : undefined}>
            <p class="strong">{failure ? 'This is no valid spec yet.' : 'Of the last compilation:'}</p>
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
  );
}

/** A draft is one document: what is wrong is wrong with it, whatever it is called where it is compiled. */
function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (!(error instanceof ApiError)) return [];
  return error.faults.map(({ code = '', severity = 'error', ...fault }) => ({
    ...fault,
    code,
    severity,
  }));
}
