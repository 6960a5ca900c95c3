import { addressExplanations } from './address.ts';
import { callExplanations } from './call.ts';
import { definitionExplanations } from './definitions.ts';
import { fitExplanations } from './fit.ts';
import { gateExplanations } from './gate.ts';
import { httpExplanations } from './http.ts';
import type { Explanations } from './model.ts';
import { modernExplanations } from './modern.ts';
import { processExplanations } from './process.ts';
import { protocolExplanations } from './protocol.ts';
import { schemaExplanations } from './schemas.ts';
import { sessionExplanations } from './session.ts';

/** An explanation of every rule of the catalogue, by its id. */
export const explanations: Explanations = {
  ...definitionExplanations,
  ...schemaExplanations,
  ...fitExplanations,
  ...addressExplanations,
  ...sessionExplanations,
  ...protocolExplanations,
  ...httpExplanations,
  ...gateExplanations,
  ...modernExplanations,
  ...callExplanations,
  ...processExplanations,
};
