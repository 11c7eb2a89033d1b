import { event } from '../history/event.ts';
import { disabledType } from './event-types.ts';
import { Webhook } from './schema.ts';

export const webhookDisabled = event({
  type: disabledType,
  data: Webhook,
  meaning: 'The service disabled a webhook. `disabledReason` says why.',
});
