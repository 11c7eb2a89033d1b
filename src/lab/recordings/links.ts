import { LRUCache } from 'lru-cache';
import { fragment, type Sql } from '../../db/sql.ts';
import type { Owner } from '../bound.ts';
import { maxFollowed } from '../bounds.ts';
import { type Attempt, type Linked, link } from './attempts.ts';
import { readRows } from './rows.ts';

interface Known {
  /** In the order of time. */
  attempts: readonly Attempt[];
  links: ReadonlyMap<number, Linked>;
}

/**
 * Links requests of recordings to the attempts before them. What is known of the recordings that were read last is kept, so that one
 * who follows a recording costs what has come since, and not all of it each time. Rows of a recording never change, and their numbers have no gaps.
 */
export class Links {
  readonly #known = new LRUCache<string, Known>({ max: maxFollowed });

  /** The links of a recording, for at least its first `upTo` requests. */
  async of(sql: Sql, owner: Owner, recordingId: string, upTo: number): Promise<ReadonlyMap<number, Linked>> {
    const name = `${owner.workspaceId} ${recordingId}`;
    const known = this.#known.get(name);
    const after = known?.attempts.length ?? 0;
    if (known && after >= upTo) return known.links;
    const attempts = [...(known?.attempts ?? [])];
    const columns = fragment`number, at_us, took_us, fingerprint`;
    for await (const rows of readRows(sql, owner, recordingId, columns, { after, upTo }))
      for (const [number, atUs, tookUs, fingerprint] of rows)
        attempts.push({
          number: Number(number),
          atUs: Number(atUs),
          tookUs: Number(tookUs),
          fingerprint: String(fingerprint),
        });
    attempts.sort((a, b) => a.atUs - b.atUs || a.number - b.number);
    const links = link(attempts);
    this.#known.set(name, { attempts, links });
    return links;
  }
}
