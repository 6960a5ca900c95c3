import { randomInt } from 'node:crypto';
import { load } from '../../scripts/load.js';

// Compares the documents that `market-mcp listing` accepts with a copy of the official registry's schema, and both with real
// documents:
// node evidence/listing-schema/run.js server.schema.json [server.json…]
process.env.TEST_SEED ||= String(randomInt(2 ** 31));
await load('evidence/listing-schema/main.ts');
