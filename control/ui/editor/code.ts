/** CodeMirror as the console uses it; loaded when a page needs it. */
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { type Extension, Prec, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, WidgetType } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup, EditorView } from 'codemirror';

export type Language = 'yaml' | 'json';

/** Something to be shown at a line. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code?: string | undefined;
  readonly message: string;
  /** From 1 on. */
  readonly line: number;
  readonly column?: number | undefined;
}

export interface EditorOptions {
  readonly text: string;
  readonly language: Language;
  /** Of the text box, for screen readers. */
  readonly label: string;
  readonly findings: readonly Finding[];
  /** Called with the text after each change; without it nothing can be changed. */
  readonly onChange?: ((text: string) => void) | undefined;
}

export interface Editor {
  show(findings: readonly Finding[]): void;
  /** Puts the cursor there, in view. */
  goTo(line: number): void;
  close(): void;
}

/** Documents of one long line, as programs write JSON, are slow to wrap. */
const LONG_LINE = /.{5000}/;

export function openEditor(parent: Element, { text, language, label, findings, onChange }: EditorOptions): Editor {
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      ...shared(language, label, onChange === undefined),
      LONG_LINE.test(text) ? [] : EditorView.lineWrapping,
      lintGutter(),
      messages,
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) onChange?.(state.doc.toString());
      }),
    ],
  });
  const editor: Editor = {
    show(shown) {
      const known = shown.filter(({ line }) => line >= 1 && line <= view.state.doc.lines);
      view.dispatch(
        setDiagnostics(
          view.state,
          known.map(({ severity, code, message, line, column = 1 }) => {
            const at = view.state.doc.line(line);
            const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
            return { from, to: at.to, severity, message, ...(code ? { source: code } : {}) };
          }),
        ),
        { effects: showMessages.of(known) },
      );
    },
    goTo(line) {
      const { doc } = view.state;
      const { from } = doc.line(Math.min(Math.max(line, 1), doc.lines));
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
      view.focus();
    },
    close: () => view.destroy(),
  };
  editor.show(findings);
  return editor;
}

export interface DiffOptions {
  readonly before: string;
  readonly after: string;
  readonly language: Language;
  readonly sideBySide: boolean;
}

/** Shows what has changed; returns what takes it away. */
export function openDiff(parent: Element, { before, after, language, sideBySide }: DiffOptions): () => void {
  const collapseUnchanged = { margin: 3, minSize: 8 };
  if (sideBySide) {
    const view = new MergeView({
      parent,
      collapseUnchanged,
      a: { doc: before, extensions: shared(language, 'Before', true) },
      b: { doc: after, extensions: shared(language, 'After', true) },
    });
    return () => view.destroy();
  }
  const view = new EditorView({
    parent,
    doc: after,
    extensions: [
      ...shared(language, 'Changes', true),
      unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged }),
    ],
  });
  return () => view.destroy();
}

function shared(language: Language, label: string, readOnly: boolean): Extension[] {
  return [
    Prec.high(syntaxHighlighting(COLOURS)),
    basicSetup,
    language === 'json' ? json() : yaml(),
    THEME,
    EditorView.cspNonce.of(document.querySelector<HTMLElement>('meta[name=style-nonce]')?.nonce ?? ''),
    EditorView.contentAttributes.of({
      'aria-label': label,
      ...(readOnly ? { 'aria-readonly': 'true', tabindex: '0' } : {}),
    }),
    EditorView.editable.of(!readOnly),
  ];
}

const showMessages = StateEffect.define<readonly Finding[]>();

/** The messages below their lines: nobody has to point at anything to read them. */
const messages = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(last, transaction) {
    let now = last.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(showMessages)) continue;
      const { doc } = transaction.state;
      now = Decoration.set(
        effect.value.map((finding) =>
          Decoration.widget({ widget: new Message(finding), block: true, side: 1 }).range(doc.line(finding.line).to),
        ),
        true,
      );
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Message extends WidgetType {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super();
    this.finding = finding;
  }

  override eq({ finding }: Message): boolean {
    return finding.message === this.finding.message && finding.code === this.finding.code;
  }

  toDOM(): HTMLElement {
    const { severity, code, message } = this.finding;
    const element = document.createElement('div');
    element.className = `finding ${severity}`;
    const strong = document.createElement('strong');
    strong.textContent = code ? `${severity} ${code}` : severity;
    element.append(strong, ` ${message}`);
    return element;
  }
}

/** By the colours of the page, which know light and dark. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: 'var(--code-atom)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
]);

const THEME = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface-2)', color: 'var(--muted)', borderRight: '1px solid var(--border)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--highlight)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--surface-2)',
    color: 'var(--text)',
    borderColor: 'var(--border)',
  },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--surface)',
    backgroundImage: 'none',
    color: 'var(--text)',
    borderColor: 'var(--border)',
  },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--surface-2)', borderColor: 'var(--border)', color: 'var(--muted)' },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: 'none' },
  '.cm-collapsedLines': { background: 'var(--surface-2)', color: 'var(--muted)' },
  '.cm-changedLine': { backgroundColor: 'var(--added) !important' },
  '.cm-deletedChunk, &.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--removed) !important' },
  '.cm-changedText': { background: 'var(--changed) !important' },
});
