/** A module of workerd. */
declare module 'cloudflare:node' {
  /** A handler that gives requests to the server of `node:http` that listens on this port, inside the Worker. */
  export function httpServerHandler(options: { readonly port: number }): {
    fetch(request: Request, env: unknown, context: unknown): Promise<Response>;
  };
}
