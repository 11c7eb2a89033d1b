import { type Event as StoreEvent, writeExactly } from '../../client/index.ts';
import { plain } from './plain-text.ts';

export type { StoreEvent };

type Fields = Readonly<Record<string, unknown>>;

interface Change {
  field: string;
  /** Absent if the field did not exist before, or does not exist now. */
  was?: string;
  now?: string;
}

/** A value as text. A merge patch calls an absent value null. */
function textOf(value: unknown, max?: number): string {
  if (value === undefined || value === null) return 'nothing';
  return plain(typeof value === 'string' ? value : writeExactly(value), max);
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const dataOf = (event: StoreEvent) => fieldsOf(event.data);
const previousOf = (event: StoreEvent) => fieldsOf((event as { previous?: unknown }).previous);

/** The changed fields of an update; for other events all fields. */
export function changesOf(event: StoreEvent, max?: number): Change[] {
  const [data, previous] = [dataOf(event), previousOf(event)];
  if ('previous' in event)
    return Object.keys(previous).map((field) => ({
      field,
      was: textOf(previous[field], max),
      now: textOf(data[field], max),
    }));
  const word = /\.(deleted|cancelled)$/.test(event.type) ? 'was' : 'now';
  return Object.keys(data).map((field) => ({ field, [word]: textOf(data[field], max) }));
}

/** The fields that an update did not change. */
export function unchangedOf(event: StoreEvent): string {
  if (!('previous' in event)) return '';
  const previous = previousOf(event);
  return Object.entries(dataOf(event))
    .filter(([field]) => !(field in previous))
    .map(([field, value]) => `${field} ${textOf(value, 60)}`)
    .join(', ');
}

const markers: Readonly<Record<string, string>> = {
  'workspace.reset':
    'All or part of the data was removed. Earlier events no longer describe the current state.',
  'workspace.seeded': 'Many rows were added at once, without an event for each.',
};

/** Whether it concerns the whole workspace: all lists are out of date. */
export const isMarker = ({ type }: StoreEvent): boolean => type in markers;

/** An event in a few words, such as `pet 7 Smaug: status available → pending`. */
export function summaryOf(event: StoreEvent): string {
  const marker = markers[event.type];
  if (marker) return marker;
  const data = dataOf(event);
  const [kind = ''] = event.type.split('.');
  const name = textOf(data.name ?? data.url ?? '', 60);
  const subject =
    kind === 'inventory'
      ? `stock of pet ${textOf(data.petId)}`
      : `${plain(kind, 60)} ${textOf(data.id ?? '')} ${name}`.trim();
  const changes =
    'previous' in event
      ? changesOf(event, 60)
          .slice(0, 4)
          .map(({ field, was, now }) => `${plain(field, 60)} ${was} → ${now}`)
      : [];
  if (kind === 'order') changes.unshift(`${textOf(data.quantity)} of pet ${textOf(data.petId)}`);
  if (event.type === 'webhook.disabled') changes.push(`${textOf(data.disabledReason)}`);
  return changes.length ? `${subject}: ${changes.join(', ')}` : subject;
}

/** The number of events of each type, in the order of the alphabet. */
export function countsByType(events: readonly StoreEvent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
