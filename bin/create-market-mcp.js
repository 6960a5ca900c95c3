#!/usr/bin/env node
require('./start.js').start('create-market-mcp');
