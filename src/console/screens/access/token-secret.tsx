import { CopyText } from '../../parts/copy-text.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';

/** Shows the secret of a token, this once. */
export function TokenSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <ShownOnce title="The token" label="the token" text={secret} onClose={onClose}>
      <p>It is shown this once. Present it as</p>
      <CopyText label="the header" text={`Authorization: Token ${secret}`} />
    </ShownOnce>
  );
}
