// Takes Scalar's program for the browser out of its plugin for Fastify, a module of 4 MB, and compresses it.

import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import { sendForms } from '../http/forms.ts';

const host = fastify();
await host.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
const { body } = await host.inject('/js/scalar.js');
await host.close();
await sendForms(body);
