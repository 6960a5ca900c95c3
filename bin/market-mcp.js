#!/usr/bin/env node
require('./start.js').start('market-mcp');
