import { CopyText } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { counted } from '../../texts/texts.ts';

/** A link for one person. */
export interface PersonLink {
  email: string;
  url: string;
  /** Purpose of the link, as in a sentence. */
  what: string;
}

/** Shows links this once: each is for one person. */
export function Links({ links, onClose }: { links: readonly PersonLink[]; onClose: () => void }) {
  const [first] = links;
  const isOne = links.length === 1;
  return (
    <Dialog
      title={isOne ? `A link for ${first?.email}` : counted(links.length, '{count} link', '{count} links')}
      onClose={onClose}
    >
      {isOne ? (
        <p>
          With it {first?.email} can {first?.what}, once. It is shown only now: give it to nobody else.
        </p>
      ) : (
        <p>With each, its person can {first?.what}, once. They are shown only now: give each to nobody else.</p>
      )}
      {links.map(({ email, url }) => (
        <div key={email} class="stack">
          {!isOne && <strong>{email}</strong>}
          <CopyText label={isOne ? 'link' : `the link for ${email}`} text={url} />
        </div>
      ))}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          {isOne ? 'I have it' : 'I have them'}
        </button>
      </div>
    </Dialog>
  );
}
