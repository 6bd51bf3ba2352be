#!/usr/bin/env bash
# chromium-headless-shell 156.0.8078.108 (Debian 12), driven by playwright-core 1.65.1: `navigator.clipboard` is there on
# http://localhost, but `writeText` in the handler of a click is refused with NotAllowedError. chromium of the same version
# and package source, headless as well, copies. `document.execCommand('copy')` copies in both. A page that offers the
# clipboard alone therefore fails in the one and passes in the other.
#
# Seen on 2026-11-30 with Node 24:
#   chromium: clipboard copied, execCommand true
#   chromium-headless-shell: clipboard NotAllowedError, execCommand true
set -euo pipefail

for program in chromium chromium-headless-shell; do
  command -v "$program" >/dev/null || { echo "apt-get install $program"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --no-audit --no-fund --silent playwright-core@1.65.1
cat >try.mjs <<'JS'
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';

const PAGE = `<button>Copy</button><textarea>text</textarea><script>
  document.querySelector('button').onclick = async () => {
    let told = await navigator.clipboard.writeText('text').then(() => 'copied', ({ name }) => name);
    document.querySelector('textarea').select();
    document.title = 'clipboard ' + told + ', execCommand ' + document.execCommand('copy');
  };
</script>`;
const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(PAGE));
await new Promise((resolve) => server.listen(0, resolve));
for (const program of ['chromium', 'chromium-headless-shell']) {
  const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: `/usr/bin/${program}`, args });
  const page = await browser.newPage();
  await page.goto(`http://localhost:${server.address().port}/`);
  await page.getByRole('button').click();
  await page.waitForFunction('document.title !== ""');
  console.log(`${program}: ${await page.title()}`);
  await browser.close();
}
server.close();
JS
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'chromium: clipboard copied, execCommand true
chromium-headless-shell: clipboard NotAllowedError, execCommand true' ]
