#!/usr/bin/env node
import('../dist/program.js').then(({ main }) => main(process.argv.slice(2)));
