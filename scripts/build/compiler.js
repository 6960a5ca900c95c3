import { metaValidator as meta } from 'market-mcp-contract/json';
import { validator as manifest } from '../../src/project/manifest/manifest-validator.ts';
import { validator as toolSpec } from '../../src/tools/tool-spec-validator.ts';

// Code that the package loads when it first compiles a schema, or reports errors in one of its own documents.

export { Ajv } from 'ajv';
export { default as addFormats } from 'ajv-formats';

export const validators = { manifest, meta, 'tool-spec': toolSpec };
