import assert from 'node:assert/strict';
import { operations } from '../../src/api/operations.ts';
import { describeEvents } from '../../src/reference/description/asyncapi.ts';
import { baseUrl, description, inJsonSchema, resolve, validator } from './description.ts';

/** The served AsyncAPI document. */
export const eventsDescription = JSON.parse(JSON.stringify(describeEvents(operations, baseUrl)));

/** Fails unless the document describes this message: the fields around its payload, and the payload. */
export function assertMessage(
  channel: 'stream' | 'webhookMessages',
  fields: object,
  payload: { type: string },
): void {
  const message = eventsDescription.channels[channel].messages[payload.type];
  assert.ok(message, `${channel} describes no ${payload.type}`);
  const { headers } = resolve(message.traits[0], eventsDescription);
  // The schemas equal those of OpenAPI 3.1. A test checks that.
  for (const [schema, value] of [
    [headers, fields],
    [message.payload, payload],
  ]) {
    const validate = validator(schema, inJsonSchema.get(description));
    assert.ok(validate(value), `${channel}: ${JSON.stringify(value)}: ${JSON.stringify(validate.errors)}`);
  }
}
