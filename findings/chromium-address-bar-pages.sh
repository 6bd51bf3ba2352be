#!/usr/bin/env bash
# Chromium 156.0.8078.108 (Debian 12, /usr/bin/chromium) driven by playwright-core 1.65.1, headless.
#
# Expected: a headless window is one renderer, that of its page.
# Seen: every window (browser context) has a second renderer, started with --top-chrome-webui: the suggestions of the
# address bar are web pages of their own now, and are loaded although no address bar is ever drawn. On two cores a window
# took 2.4 s of the processor instead of 0.9 s. Neither feature alone takes them away; both together do:
#   --disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup
#
# Output seen:
#   default                                      1 window: 1 of the browser's own, 2 windows: 2
#   without WebUIOmniboxPopup                    1 window: 1 of the browser's own, 2 windows: 2
#   without WebUIOmniboxPopup, WebUIOmniboxAimPopup  1 window: 0 of the browser's own, 2 windows: 0
set -euo pipefail
command -v chromium >/dev/null || { echo 'needs Debian chromium: apt-get install chromium'; exit 2; }
chromium --version 2>/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund playwright-core@1.65.1
cat >count.mjs <<'JS'
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const own = (folder) =>
  readdirSync('/proc').filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      return command.includes('--top-chrome-webui') && command.includes(folder);
    } catch {
      return false;
    }
  }).length;

const found = [];
for (const features of [[], ['WebUIOmniboxPopup'], ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']]) {
  const args = ['--no-sandbox', ...(features.length > 0 ? [`--disable-features=${features.join(',')}`] : [])];
  process.env.TMPDIR = process.cwd();
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  const counts = [];
  for (let windows = 1; windows <= 2; windows += 1) {
    const page = await (await browser.newContext()).newPage();
    await page.goto('data:text/html,<p>hello</p>');
    await pause(3_000);
    counts.push(own(process.cwd()));
  }
  await browser.close();
  found.push(counts.join(' '));
  const name = features.length > 0 ? `without ${features.join(', ')}` : 'default';
  console.log(`${name.padEnd(48)} 1 window: ${counts[0]} of the browser's own, 2 windows: ${counts[1]}`);
}
const seen = ['1 2', '1 2', '0 0'];
if (found.join() !== seen.join()) {
  console.log(`changed: was ${seen.join(', ')}`);
  process.exit(1);
}
JS
node count.mjs
