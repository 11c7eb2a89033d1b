import { ApiError } from '../errors.ts';
import { created, operation, resource } from '../operation.ts';
import { operations } from '../operations.ts';
import { FaultList, toCatalogue } from './catalogue.ts';
import { faultNamed } from './faults.ts';
import {
  defaultExpirySeconds,
  NewRehearsal,
  type PlannedFault,
  Rehearsal,
  Rehearsals,
  rehearsalId,
} from './rehearsals-schema.ts';
import { endRehearsal, getRehearsal, listRehearsals, startRehearsal } from './rehearsals-store.ts';

export const rehearsalOperations = [
  operation({
    method: 'GET',
    path: '/faults',
    id: 'listFaults',
    tag: 'Rehearsals',
    summary: 'List faults',
    description:
      'Returns every fault that a rehearsal can perform: what it does, and what a good client does then.',
    success: resource(FaultList, 'All faults.'),
    handle: async () => toCatalogue(operations),
  }),

  operation({
    method: 'GET',
    path: '/rehearsals',
    id: 'listRehearsals',
    tag: 'Rehearsals',
    summary: 'List rehearsals',
    description: 'Returns the rehearsals of the key, the newest first.',
    success: resource(Rehearsals, 'The rehearsals of the key.'),
    handle: (sql, input) => listRehearsals(sql, input, operations) as never,
  }),

  operation({
    method: 'POST',
    path: '/rehearsals',
    id: 'startRehearsal',
    tag: 'Rehearsals',
    summary: 'Begin a rehearsal',
    description:
      'Makes the service perform faults for the key that asks, and for no other. The rehearsal before ends. Once this is answered, every instance acts on it. Answers that a fault has touched say so in `Petstore-Rehearsal`.',
    bindsKey: true,
    body: NewRehearsal,
    success: created(Rehearsal, 'The rehearsal.', ({ id }) => `/rehearsals/${id}`),
    handle: async (sql, input) => {
      const faults = readFaults(input.body.faults as PlannedFault[]);
      const { expiresInSeconds = defaultExpirySeconds } = input.body;
      const expiresAtMs = input.nowMs + expiresInSeconds * 1_000;
      const id = await startRehearsal(sql, input, faults, input.nowMs, expiresAtMs);
      return (await getRehearsal(sql, input, operations, id)) as never;
    },
  }),

  operation({
    method: 'GET',
    path: '/rehearsals/{rehearsalId}',
    id: 'getRehearsal',
    tag: 'Rehearsals',
    summary: 'Get a rehearsal',
    description:
      'Returns a rehearsal of the key: how often each fault was performed, and how often it still will be.',
    params: { rehearsalId },
    success: resource(Rehearsal, 'The rehearsal.'),
    handle: (sql, input) => getRehearsal(sql, input, operations, input.params.rehearsalId) as never,
  }),

  operation({
    method: 'DELETE',
    path: '/rehearsals/{rehearsalId}',
    id: 'endRehearsal',
    tag: 'Rehearsals',
    summary: 'End a rehearsal',
    description: 'Ends a rehearsal. What was performed can still be read for a day.',
    bindsKey: true,
    params: { rehearsalId },
    success: resource(Rehearsal, 'The rehearsal as it ended.'),
    handle: async (sql, input) => {
      await endRehearsal(sql, input, input.params.rehearsalId, input.nowMs);
      return (await getRehearsal(sql, input, operations, input.params.rehearsalId)) as never;
    },
  }),
];

/** Faults with all their parameters. Throws `invalid_request` that names what does not belong together. */
function readFaults(planned: readonly PlannedFault[]): PlannedFault[] {
  const problems: string[] = [];
  const read = planned.map((plan, index) => {
    const problem = (text: string) => problems.push(`Body property faults[${index}]${text}`);
    const { fault: name, operation: operationId, after, times, ...given } = plan;
    const fault = faultNamed(name);
    if (!fault) return plan;
    const asked = operations.find(({ id }) => id === operationId);
    if (asked && !fault.fits(asked))
      problem(`.operation must be one that ${name} can touch; GET /faults lists them`);
    if (fault.isCondition && (times !== undefined || after !== undefined))
      problem(` must not have times or after: ${name} is a condition, and lasts as long as the rehearsal`);
    const taken = Object.keys(fault.parameters);
    for (const parameter of Object.keys(given).filter((one) => !taken.includes(one)))
      problem(`.${parameter} is not a parameter of ${name}, which takes ${taken.join(', ') || 'none'}`);
    const defaults = Object.entries(fault.parameters).map(([parameter, schema]) => [
      parameter,
      (schema as { default?: number }).default,
    ]);
    return {
      fault: name,
      ...(operationId !== undefined && { operation: operationId }),
      ...(after !== undefined && { after }),
      ...(!fault.isCondition && { times: times ?? 1 }),
      ...Object.fromEntries(defaults),
      ...given,
    };
  });
  for (const name of planned.map(({ fault }) => fault).filter((one) => faultNamed(one)?.isCondition)) {
    const same = planned.filter(({ fault }) => fault === name);
    const isTwice = new Set(same.map(({ operation = '' }) => operation)).size < same.length;
    if (isTwice || (same.length > 1 && same.some(({ operation }) => operation === undefined)))
      problems.push(`Body property faults must not have ${name} twice for an operation`);
  }
  if (problems.length > 0) throw new ApiError('invalid_request', `${[...new Set(problems)].join('. ')}.`);
  return read;
}
