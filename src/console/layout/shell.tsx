import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { href } from '../navigation/place.ts';
import type { Section } from '../navigation/routes.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { AccountMenu, type AccountViewer } from './account-menu.tsx';
import { FiringBadge } from './firing-count.tsx';
import { KeysSheet } from './keys-sheet.tsx';
import { LiveBadge } from './live-badge.tsx';
import { OfflineNote } from './offline-note.tsx';
import { SearchBox } from './search-box.tsx';
import { useShortcut } from './shortcut.ts';
import { useOwnWorkspace } from './use-own-workspace.ts';
import { WorkspaceSwitch } from './workspace-switch.tsx';
import './shell.css';
import { t } from '../texts/texts.ts';

const SECTIONS: { section: Section; name: string; icon: IconName; path: string; isPage?: true }[] = [
  { section: 'home', name: t('Overview'), icon: 'home', path: '/' },
  { section: 'devices', name: t('Devices'), icon: 'device', path: '/devices' },
  { section: 'products', name: t('Products'), icon: 'product', path: '/products' },
  { section: 'dashboards', name: t('Dashboards'), icon: 'dashboard', path: '/dashboards' },
  { section: 'alerts', name: t('Alerts'), icon: 'bell', path: '/alerts' },
  { section: 'access', name: t('Access'), icon: 'key', path: '/access' },
  { section: 'graphql', name: 'GraphQL', icon: 'code', path: '/graphql', isPage: true },
];

interface ShellProps {
  section: Section | null;
  viewer: AccountViewer;
  children: ComponentChildren;
}

/** The frame around every screen: navigation, search, the badge, the account menu. */
export function Shell({ section, viewer, children }: ShellProps) {
  const [hasKeys, setKeys] = useState(false);
  useShortcut(['?'], () => setKeys(true));
  useOwnWorkspace(viewer.workspaces);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={href('/')} aria-label="Inlet, overview">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M6 20c3 0 3-8 6-8s3 8 6 8 3-8 8-8" />
          </svg>
        </a>
        <WorkspaceSwitch workspaces={viewer.workspaces} />
        <SearchBox workspaces={viewer.workspaces} />
        <LiveBadge />
        <AccountMenu viewer={viewer} onKeys={() => setKeys(true)} />
      </header>
      <nav class="sections" aria-label="Main">
        {SECTIONS.map(({ section: name, name: text, icon, path, isPage }) => (
          <a
            key={name}
            href={href(path)}
            target={isPage && '_self'}
            aria-current={name === section ? 'page' : undefined}
          >
            <Icon name={icon} />
            <span>{text}</span>
            {name === 'alerts' && <FiringBadge />}
          </a>
        ))}
      </nav>
      <div class="content" id="main" tabIndex={-1}>
        <OfflineNote />
        {children}
      </div>
      {hasKeys && <KeysSheet onClose={() => setKeys(false)} />}
      <Toasts />
    </div>
  );
}
