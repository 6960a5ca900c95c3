import { lazyValidator } from '../contract/schema/ajv.ts';
import { toolSpecSchema as schema } from './tool-spec-schema.ts';

export { schema };

export const validator = lazyValidator(schema);
