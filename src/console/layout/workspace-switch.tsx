import type { TargetedToggleEvent } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { useStore } from '../api/store.ts';
import { Icon } from '../parts/icon.tsx';
import { workspaceId } from '../session/session.ts';
import { tellApart } from '../session/workspace-names.ts';
import { enterWorkspace } from './enter-workspace.ts';
import { useShortcut } from './shortcut.ts';

interface WorkspaceSwitchProps {
  workspaces: readonly { id: string; name: string }[];
}

/** The name of the workspace that is looked at, and a list of the others: `w` opens it, letters narrow, Enter chooses. */
export function WorkspaceSwitch({ workspaces }: WorkspaceSwitchProps) {
  const chosen = useStore(workspaceId);
  const known = tellApart(workspaces);
  const current = known.find(({ id }) => id === chosen);
  if (current === undefined) return null;
  if (known.length === 1)
    return (
      <span class="workspace" title={`Workspace: ${current.name}`}>
        {current.name}
      </span>
    );
  return <Choice known={known} current={current} />;
}

interface ChoiceProps {
  known: ReturnType<typeof tellApart>;
  current: ReturnType<typeof tellApart>[number];
}

function Choice({ known, current }: ChoiceProps) {
  const id = useId();
  const [text, setText] = useState('');
  const [marked, setMarked] = useState(0);
  const anchor = useRef<HTMLButtonElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const lower = text.trim().toLowerCase();
  const shown = known.filter(({ name, mark }) => `${name} ${mark ?? ''}`.toLowerCase().includes(lower));
  const at = Math.min(marked, shown.length - 1);
  useShortcut(['w'], () => sheet.current?.showPopover());
  // Before it is shown, when what is typed next comes here: who is quick has typed already when `toggle` comes.
  const place = (event: TargetedToggleEvent<HTMLDivElement>): void => {
    if (event.newState !== 'open' || anchor.current === null || sheet.current === null) return;
    setText('');
    setMarked(known.indexOf(current));
    const { bottom, left } = anchor.current.getBoundingClientRect();
    sheet.current.style.top = `${bottom + 6}px`;
    sheet.current.style.left = `${Math.max(8, left)}px`;
  };
  const choose = (workspace: string | undefined): void => {
    if (workspace === undefined) return;
    sheet.current?.hidePopover();
    anchor.current?.focus();
    if (workspace !== current.id) enterWorkspace(workspace);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && event.key !== 'Enter') return;
    event.preventDefault();
    if (step === 0) choose(shown[at]?.id);
    else setMarked((at + step + shown.length) % Math.max(1, shown.length));
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="quiet workspace"
        aria-label={`Workspace: ${nameOf(current)}`}
        title="Switch workspace (w)"
        popovertarget={id}
      >
        <span>{current.name}</span>
        {current.mark !== null && <small>{current.mark}</small>}
        <Icon name="down" />
      </button>
      <div
        ref={sheet}
        id={id}
        popover="auto"
        class="menu workspaces"
        onBeforeToggle={place}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        <input
          type="text"
          autofocus
          role="combobox"
          list={undefined}
          aria-label="Switch to a workspace"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
          placeholder="Workspace"
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setMarked(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div id={`${id}-list`} role="listbox" aria-label="Workspaces">
          {shown.map((one, index) => (
            <button
              key={one.id}
              id={`${id}-${index}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              onClick={() => choose(one.id)}
            >
              <Icon name={one.id === current.id ? 'check' : 'none'} />
              <span>{one.name}</span>
              {one.mark !== null && <small>{one.mark}</small>}
            </button>
          ))}
        </div>
        {shown.length === 0 && <p class="muted">None is called like that.</p>}
      </div>
    </>
  );
}

function nameOf({ name, mark }: { name: string; mark: string | null }): string {
  return mark === null ? name : `${name} ${mark}`;
}
