import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { operations } from '../src/api/operations.ts';
import { sampleRequest } from '../src/reference/description/samples.ts';
import { listen } from '../test/support/receiver.ts';
import { startDemonstration } from './support/demonstration.ts';
import { endingOperations, sendExample } from './support/examples.ts';
import { load } from './support/packages.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { openapiDocuments } from './support/tour.ts';

testTool(
  pinnedTool(
    'express-openapi-validator',
    'cdimascio/express-openapi-validator',
    'Sends requests',
    'express-openapi-validator',
  ),
  {
    called: 'its middleware in a server that passes requests on, with OpenAPI 3.0 and 3.1',
    asserts: 'The example request of every operation and its response are valid. It refuses a wrong one.',
    runs: true,
    exemptions: ['It does not read OpenAPI 3.2.', 'The stream of events is left out, because it has no end.'],
  },
  async (t) => {
    const { middleware } = load('express-openapi-validator');
    const express = load('express');
    const { origin, freshKey } = await startDemonstration(t);
    for (const document of openapiDocuments.slice(0, 2)) {
      const apiSpec = await (await fetch(`${origin}/v1/${document}`)).json();
      const app = express();
      app.use(express.json({ type: ['application/json', 'application/merge-patch+json'] }));
      app.use(middleware({ apiSpec, validateRequests: true, validateResponses: true }));
      app.use(async (request: Request, response: Response) => {
        const { method, originalUrl: url, headers, body } = request;
        const sent = { authorization: headers.authorization, 'content-type': headers['content-type'] };
        const answer = await fetch(origin + url, {
          method,
          headers: JSON.parse(JSON.stringify(sent)),
          ...(headers['content-type'] && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        response.status(answer.status);
        if (text) response.json(JSON.parse(text));
        else response.end();
      });
      app.use(({ status = 500, message }: Failure, _: Request, response: Response, __: unknown) =>
        response.status(status).json({ message }),
      );
      const { port } = await listen(t, createServer(app));
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      const headers = { authorization: `Bearer ${await freshKey()}` };
      for (const operation of endingOperations) {
        const response = await sendExample(operation, baseUrl, headers);
        assert.equal(response.status, operation.success.status, `${operation.id}: ${await response.text()}`);
      }
      const wrong = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"name":1}',
      };
      assert.equal((await fetch(`${baseUrl}/pets`, wrong)).status, 400);
    }
    return `${endingOperations.length} exchanges with each version`;
  },
);

type Request = IncomingMessage & { method: string; originalUrl: string; body: unknown };
type Response = ServerResponse & { status(code: number): Response; json(body: unknown): void };
type Failure = { status?: number; message: string };

testTool(
  pinnedTool('openapi-backend', 'openapistack/openapi-backend', 'Sends requests', 'openapi-backend'),
  {
    called: '`validateRequest` and `validateResponse` on real exchanges, with OpenAPI 3.0',
    asserts: 'The example request of every operation and its response are valid. It refuses a wrong request.',
    runs: true,
    exemptions: ['Its strict mode reads only OpenAPI 3.0.'],
  },
  async (t) => {
    const OpenAPIBackend = load('openapi-backend');
    const { origin, freshKey } = await startDemonstration(t);
    const definition = await (await fetch(`${origin}/v1/openapi.json`)).json();
    const formats = { 'date-time': true, int32: true, int64: true };
    const api = new OpenAPIBackend({ definition, strict: true, ajvOpts: { strict: false, formats } });
    await api.init();
    assert.equal(api.router.getOperations().length, operations.length);
    const headers = { authorization: `Bearer ${await freshKey()}` };
    for (const operation of endingOperations) {
      const { method, url, body, mediaType } = sampleRequest(operation, '');
      const [path, query] = url.split('?');
      const sent = { method, path, query, headers: body ? { 'content-type': mediaType } : {}, body };
      assert.equal(api.validateRequest(sent).errors ?? null, null, operation.id);
      const response = await sendExample(operation, `${origin}/v1`, headers);
      const text = await response.text();
      const { errors } = api.validateResponse(text ? JSON.parse(text) : null, operation.id, response.status);
      assert.equal(errors ?? null, null, `${operation.id}: ${JSON.stringify(errors)}`);
    }
    const wrong = {
      method: 'POST',
      path: '/pets',
      headers: { 'content-type': 'application/json' },
      body: { name: 1 },
    };
    assert.ok(api.validateRequest(wrong).errors.length > 0);
    return `${endingOperations.length} exchanges`;
  },
);
