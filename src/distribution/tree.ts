// The tree, which runs as it is. The npm package is built with package.ts beside this file.

/** The oldest Node.js that will do: it hands over to the one that npm installs. */
export const neededNode = 20;

/** How the command line is called. */
export const command = 'npm run -s petstore --';

/** How the service is started for the first time, and how later. */
export const firstStart = 'npm ci && npm start';
export const start = 'npm start';

/** Scalar's program for the browser, out of its plugin for Fastify, a module of 4 MB. */
export async function scalarProgram(): Promise<string> {
  const [{ default: scalar }, { default: fastify }] = await Promise.all([
    import('@scalar/fastify-api-reference'),
    import('fastify'),
  ]);
  const host = fastify();
  await host.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
  const { statusCode, body } = await host.inject('/js/scalar.js');
  await host.close();
  if (statusCode !== 200) throw new Error(`The plugin answers ${statusCode} where its program was.`);
  return body;
}
