/** Why a project cannot be written or found. `message` says what is the matter, `hint` what to do about it. */
export class ProjectError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProjectError';
    this.code = code;
    this.hint = hint;
  }
}
