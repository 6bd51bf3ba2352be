#!/usr/bin/env bash
# oxfmt 0.79.0: '*.ts' takes the files of every folder below, as a line of .gitignore does, and so does './*.ts'.
# prettier 3.10.1 takes those of this folder alone, as a shell does. And a file that a folder and such a pattern both
# name is told twice by --list-different (and counted twice by --check). Whoever moves a script from prettier to oxfmt
# with its patterns formats more than before: name the files of the top folder.
#
# Seen on 2026-11-30 with Node 24:
#   prettier '*.ts':      top.ts
#   oxfmt '*.ts':         sub/deep.ts top.ts
#   oxfmt './*.ts':       sub/deep.ts top.ts
#   oxfmt sub '*.ts':     sub/deep.ts sub/deep.ts top.ts
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --no-audit --no-fund --silent oxfmt@0.79.0 prettier@3.10.1
mkdir -p code/sub
echo 'const  one = 1' >code/top.ts
echo 'const  two = 2' >code/sub/deep.ts
cd code

# Each ends with 1, as something is to be formatted.
told() { { "$@" || true; } | sort | tr '\n' ' ' | sed 's/ $//'; }
failed=0
expect() {
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  expected: $3"; failed=1; }
}
expect "prettier '*.ts'" "$(told ../node_modules/.bin/prettier --list-different '*.ts')" 'top.ts'
expect "oxfmt '*.ts'" "$(told ../node_modules/.bin/oxfmt --list-different '*.ts')" 'sub/deep.ts top.ts'
expect "oxfmt './*.ts'" "$(told ../node_modules/.bin/oxfmt --list-different './*.ts')" 'sub/deep.ts top.ts'
expect "oxfmt sub '*.ts'" "$(told ../node_modules/.bin/oxfmt --list-different sub '*.ts')" 'sub/deep.ts sub/deep.ts top.ts'
exit "$failed"
