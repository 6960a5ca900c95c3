#!/usr/bin/env bash
# Installs a project in the working directory by its lock file, unless an earlier step has.
set -euo pipefail
if [ -d node_modules ]; then exit 0
elif [ -f pnpm-lock.yaml ]; then pnpm install --frozen-lockfile
elif [ -f bun.lock ]; then bun install --frozen-lockfile
elif [ -f yarn.lock ] && [ -f .yarnrc.yml ]; then yarn install --immutable
elif [ -f yarn.lock ]; then yarn install --frozen-lockfile
else npm ci
fi
