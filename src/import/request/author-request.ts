import type { RequestRefusal } from './request-refusal.ts';

export type NameValue = readonly [name: string, value: string];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A request as its author has it: from a curl command, or from what a browser recorded. */
export interface AuthorRequest {
  readonly method: Method;
  /** http or https, with its query, as it is sent. */
  readonly url: string;
  readonly headers: readonly NameValue[];
  /** The text of the body, or the parts of a multipart form. */
  readonly body: string | readonly NameValue[] | null;
  /**
   * Variables that a shell would replace. Each is a placeholder: of a key in the position of a key, else of an input. Null for a HAR
   * file: nothing there is a placeholder.
   */
  readonly shellVariables: ReadonlySet<string> | null;
  /** Behind a pipe: commands that change only how the response is printed. */
  readonly pipe?: string | undefined;
  /** Position in the HAR file, from 1; absent for a curl command. */
  readonly number?: number;
  /** Why no tool can send it. */
  readonly refusal?: RequestRefusal;
}
