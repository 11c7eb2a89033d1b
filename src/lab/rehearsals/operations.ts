import { operation } from '../../http/operation.ts';
import { created, resource } from '../../http/responses.ts';
import { end, rehearsals } from '../key-binding.ts';
import { maxKept } from '../lab-bounds.ts';
import type { TargetApi } from '../target-api.ts';
import { FaultList, faultCatalogue } from './catalogue.ts';
import { validateFaults } from './compiled-rehearsal.ts';
import { rehearsalId, rehearsalSchemas, usualRehearsalSeconds } from './schema.ts';
import { getRehearsal, listRehearsals, startRehearsal } from './store.ts';

/** The operations on the faults and rehearsals of an API. */
export function rehearsalOperations(api: TargetApi) {
  const { NewRehearsal, Rehearsal, RehearsalList } = rehearsalSchemas(api);
  return [
    operation({
      method: 'GET',
      path: '/faults',
      id: 'listFaults',
      tag: 'Rehearsals',
      summary: 'List faults',
      description:
        'Returns every fault that a rehearsal can perform: what it does, and how a good client reacts.',
      success: resource(FaultList, 'All faults.'),
      handle: async () => faultCatalogue(api),
    }),

    operation({
      method: 'GET',
      path: '/rehearsals',
      id: 'listRehearsals',
      tag: 'Rehearsals',
      summary: 'List rehearsals',
      description: `Returns the rehearsals of the key, newest first. At most ${maxKept} are kept.`,
      success: resource(RehearsalList, 'The rehearsals of the key.'),
      handle: (sql, input) => listRehearsals(sql, input, api),
    }),

    operation({
      method: 'POST',
      path: '/rehearsals',
      id: 'startRehearsal',
      tag: 'Rehearsals',
      summary: 'Start a rehearsal',
      description:
        'Makes the service perform faults for your key only. The previous rehearsal ends. When you get the response, all instances perform the faults. With several instances, the response takes half a second. The header `Petstore-Rehearsal` marks each response that a fault has changed.',
      changesKey: true,
      body: NewRehearsal,
      success: created(Rehearsal, 'The rehearsal.'),
      handle: async (sql, input) => {
        const faults = validateFaults(input.body.faults, api);
        const { expiresInSeconds = usualRehearsalSeconds } = input.body;
        const expiresAtMs = input.nowMs + expiresInSeconds * 1_000;
        const id = await startRehearsal(sql, input, faults, input.nowMs, expiresAtMs);
        return getRehearsal(sql, input, api, id);
      },
    }),

    operation({
      method: 'GET',
      path: '/rehearsals/{rehearsalId}',
      id: 'getRehearsal',
      tag: 'Rehearsals',
      summary: 'Get a rehearsal',
      description:
        'Returns a rehearsal of the key: how often each fault was performed, and how many performances remain.',
      params: { rehearsalId },
      success: resource(Rehearsal, 'The rehearsal.'),
      handle: (sql, input) => getRehearsal(sql, input, api, input.params.rehearsalId),
    }),

    operation({
      method: 'DELETE',
      path: '/rehearsals/{rehearsalId}',
      id: 'endRehearsal',
      tag: 'Rehearsals',
      summary: 'End a rehearsal',
      description: 'Ends a rehearsal. You can read it until a day after its expiry time.',
      changesKey: true,
      params: { rehearsalId },
      success: resource(Rehearsal, 'The ended rehearsal.'),
      handle: async (sql, input) => {
        input.assertMayChange(await getRehearsal(sql, input, api, input.params.rehearsalId));
        await end(sql, rehearsals, input, input.params.rehearsalId, input.nowMs);
        return getRehearsal(sql, input, api, input.params.rehearsalId);
      },
    }),
  ];
}
