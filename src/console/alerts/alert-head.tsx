import type { ComponentChildren } from 'preact';
import { href } from '../navigation/place.ts';
import { t } from '../texts/texts.ts';

const PAGES = [
  { page: 'alerts', text: t('Alerts'), path: '/alerts' },
  { page: 'endpoints', text: t('Endpoints'), path: '/endpoints' },
] as const;

interface AlertHeadProps {
  page: (typeof PAGES)[number]['page'];
  /** Buttons at the end. */
  children?: ComponentChildren;
}

/** The head of what is wrong, and of who is told. */
export function AlertHead({ page, children }: AlertHeadProps) {
  return (
    <div class="page-head">
      <h1 class="grow">{PAGES.find((one) => one.page === page)!.text}</h1>
      <nav class="tabs" aria-label="Alerts and who is told">
        {PAGES.map(({ page: one, text, path }) => (
          <a key={one} href={href(path)} aria-current={one === page ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      {children}
    </div>
  );
}
