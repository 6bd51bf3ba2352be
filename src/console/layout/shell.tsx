import type { ComponentChildren } from 'preact';
import { href } from '../navigation/place.ts';
import type { Section } from '../navigation/routes.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { AccountMenu, type AccountViewer } from './account-menu.tsx';
import { FiringBadge } from './firing-count.tsx';
import { LiveBadge } from './live-badge.tsx';
import { SearchBox } from './search-box.tsx';
import './shell.css';

const SECTIONS: { section: Section; name: string; icon: IconName; path: string; isPage?: true }[] = [
  { section: 'devices', name: 'Devices', icon: 'device', path: '/devices' },
  { section: 'products', name: 'Products', icon: 'product', path: '/products' },
  { section: 'dashboards', name: 'Dashboards', icon: 'dashboard', path: '/dashboards' },
  { section: 'alerts', name: 'Alerts', icon: 'bell', path: '/alerts' },
  { section: 'access', name: 'Access', icon: 'key', path: '/access' },
  { section: 'graphql', name: 'GraphQL', icon: 'code', path: '/graphql', isPage: true },
];

interface ShellProps {
  section: Section | null;
  viewer: AccountViewer;
  children: ComponentChildren;
}

/** The frame around every screen: navigation, search, the badge, the account menu. */
export function Shell({ section, viewer, children }: ShellProps) {
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={href('/devices')} aria-label="Inlet, devices">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M6 20c3 0 3-8 6-8s3 8 6 8 3-8 8-8" />
          </svg>
          <span>Inlet</span>
        </a>
        <SearchBox />
        <LiveBadge />
        <AccountMenu viewer={viewer} />
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
        {children}
      </div>
      <Toasts />
    </div>
  );
}
