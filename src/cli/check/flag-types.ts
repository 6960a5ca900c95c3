import type { ReporterName } from '../../check/report/index.ts';
import type { Era, Level } from '../../contract/model.ts';

/** The flags of `market-mcp check` as given. */
export interface CheckFlags {
  readonly token?: string;
  readonly signingKey?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly platform?: string;
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly level: Level;
  readonly era: Era;
  readonly requireAll?: true;
  readonly timeout?: string;
  readonly deadline?: string;
  readonly call: readonly string[];
  readonly examples?: string;
  readonly header: readonly string[];
  readonly baseline?: string;
  readonly saveBaseline?: string;
  readonly against?: string;
  readonly saveListing?: string | true;
  readonly build: boolean;
  readonly live?: true;
  readonly watch?: true;
  readonly reporter: ReporterName;
  readonly verbose?: true;
  readonly json?: true;
}
