#!/usr/bin/env bash
# @prometheus-io/client 0.16.1 on Node 20 or newer.
#
# Expected: a summary with a sliding window that was silent for long, or whose machine has set its clock, starts its
# windows anew with the next observation.
# Seen: the next observation builds and throws away one digest for every window that the clock has passed, in one piece.
# A step of a day with five windows in a minute builds 7,200 of them. The default metrics have such a summary, of the
# utilization of the event loop, and observe it ten times a second: a machine without a clock of its own that starts in
# 1970 and learns the time afterwards stands still until decades of windows are built, seconds of a processor. Set
# `eventLoopUtilizationTimeout` very long where that summary is not read.
#
# Output seen:
#   a step of a minute  5 windows
#   a step of a day     7200 windows
#   a step of a month   216000 windows
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @prometheus-io/client@0.16.1 2>/dev/null
cat >count.cjs <<'JS'
const digests = require('tdigest');
let built = 0;
const { TDigest } = digests;
digests.TDigest = class extends TDigest {
  constructor(...rest) {
    super(...rest);
    built += 1;
  }
};
const now = Date.now;
let offset = 0;
Date.now = () => now() + offset;
const { Summary, Registry } = require('@prometheus-io/client');
const summary = new Summary({ name: 'x', help: 'x', maxAgeSeconds: 60, ageBuckets: 5, registers: [new Registry()] });
summary.observe(1);
let failed = 0;
for (const [name, seconds] of [['a minute', 60], ['a day', 86_400], ['a month', 2_592_000]]) {
  const before = built;
  offset += seconds * 1_000;
  summary.observe(1);
  console.log(`a step of ${name}`.padEnd(19), built - before, 'windows');
  if (Math.abs(built - before - seconds / 12) > 1) failed = 1;
}
process.exit(failed);
JS
node count.cjs
