// Takes Scalar's program for the browser out of its plugin for Fastify, a module of 4 MB, and compresses it.

import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import { sendForms } from '../http/forms.ts';

const host = fastify();
await host.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
const { statusCode, body } = await host.inject('/js/scalar.js');
await host.close();
if (statusCode !== 200) throw new Error(`The plugin answers ${statusCode} where its program was.`);
await sendForms(body);
