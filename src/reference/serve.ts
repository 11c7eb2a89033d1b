import { readFile } from 'node:fs/promises';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { serveDocument } from '../http/document.ts';
import { corsHeaders } from '../http/headers.ts';

const folder = new URL('./page/', import.meta.url);

/** What makes up the page, by path. */
const files = {
  '/reference/page.js': 'text/javascript; charset=utf-8',
  '/reference/page.css': 'text/css; charset=utf-8',
  '/reference/icon.svg': 'image/svg+xml',
};

/** What the service answers with at `/` and below `/reference`. */
export const referencePaths = [
  '/',
  '/reference',
  '/reference/',
  '/reference/scalar.js',
  ...Object.keys(files),
];

/**
 * Serves the interactive reference. It loads nothing from elsewhere and sends requests to the API at `baseUrl` alone.
 * `demoKey` is filled in for whoever opens the page on this very machine.
 */
export function serveReference(app: FastifyInstance, baseUrl: string, demoKey: string | undefined): void {
  const contentSecurityPolicy = policy(new URL(baseUrl).origin);
  app.get('/', async (_request, reply) => reply.redirect('reference'));
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference'));
  app.get('/reference', async (request, reply) => {
    const isForDemo = demoKey !== undefined && isLoopback(new URL(baseUrl).hostname) && isLocal(request);
    const page = await readFile(new URL('index.html', folder), 'utf8');
    // No other site may read the page, since it may hold the key.
    for (const name of Object.keys(corsHeaders)) reply.removeHeader(name);
    reply.headers({
      'content-security-policy': contentSecurityPolicy,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    return reply.type('text/html; charset=utf-8').send(page.replace('{demoKey}', isForDemo ? demoKey : ''));
  });
  for (const [path, mediaType] of Object.entries(files)) {
    const file = new URL(path.replace('/reference/', ''), folder);
    serveDocument(app, {
      path,
      mediaType,
      text: () => readFile(file, 'utf8'),
      headers: { 'cache-control': 'max-age=60' },
    });
  }
  serveDocument(app, {
    path: '/reference/scalar.js',
    mediaType: 'text/javascript; charset=utf-8',
    text: scalarProgram,
  });
}

/** Scalar's program for the browser, which its plugin for Fastify brings along and serves. */
async function scalarProgram(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const host = fastify();
  await host.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
  const { body } = await host.inject('/js/scalar.js');
  await host.close();
  return body;
}

/** Scalar writes styles into the page, so these may be inline; programs may not. */
const policy = (apiOrigin: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self' ${apiOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Whether a request comes from this machine, and not from a site whose name was made to point here. */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  const isForwarded = Object.keys(headers).some((name) => signsOfProxy.test(name));
  const { hostname } = URL.parse(`http://${headers.host}`) ?? { hostname: '' };
  return !isForwarded && isLoopback(socket.remoteAddress ?? '') && isLoopback(hostname);
}

const signsOfProxy = /^(forwarded|via|x-real-ip|x-forwarded-.*)$/;

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback');
}
