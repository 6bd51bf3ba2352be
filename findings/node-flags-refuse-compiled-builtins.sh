#!/usr/bin/env bash
# Node 24.21.0 (npm package `node`, the version in the output below).
#
# Expected: a flag of V8 that tunes the garbage collector leaves the start of Node as it is.
# Seen: Node's own modules are compiled into its binary with their bytecode. V8 refuses that bytecode as soon as any flag
# differs that is part of its hash of flags; then each process, and each worker thread, parses and compiles them itself.
# --heap-growing-percent, --expose-gc and --stack-size are part of it; --max-semi-space-size, --max-old-space-size and
# --v8-pool-size are not. Of a start with four modules this was 110 ms of processor instead of 71 ms. What is set by
# v8.setFlagsFromString after the modules are loaded costs nothing.
#
# Output seen:
#   (none)                            64 from the binary, 0 compiled
#   --max-semi-space-size=8           64 from the binary, 0 compiled
#   --max-old-space-size=100          64 from the binary, 0 compiled
#   --v8-pool-size=1                  64 from the binary, 0 compiled
#   --heap-growing-percent=30         0 from the binary, 64 compiled
#   --no-allocation-site-pretenuring  0 from the binary, 64 compiled
#   --expose-gc                       0 from the binary, 64 compiled
#   --stack-size=2000                 0 from the binary, 64 compiled
#   --no-node-snapshot                0 from the binary, 145 compiled
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0 2>/dev/null
node=node_modules/node/bin/node
"$node" --version
cat >count.cjs <<'JS'
const { internalBinding } = require('internal/test/binding');
for (const name of ['node:http', 'node:crypto', 'node:child_process', 'node:worker_threads']) require(name);
const { compiledWithCache, compiledWithoutCache } = internalBinding('builtins').getCacheUsage();
console.log(compiledWithCache.size, compiledWithoutCache.size);
JS
failed=0
look() { # flag, whether the bytecode in the binary is used
  read -r kept compiled < <("$node" ${1:+"$1"} --no-warnings --expose-internals count.cjs)
  printf '%-33s %s from the binary, %s compiled\n' "${1:-(none)}" "$kept" "$compiled"
  if [ "$2" = used ]; then [ "$kept" -gt 0 ] && [ "$compiled" = 0 ] || failed=1
  else [ "$kept" = 0 ] && [ "$compiled" -gt 0 ] || failed=1; fi
}
look '' used
look --max-semi-space-size=8 used
look --max-old-space-size=100 used
look --v8-pool-size=1 used
look --heap-growing-percent=30 refused
look --no-allocation-site-pretenuring refused
look --expose-gc refused
look --stack-size=2000 refused
look --no-node-snapshot refused
exit "$failed"
