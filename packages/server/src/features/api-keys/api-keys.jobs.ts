import type { Database } from '../../database/database.ts'
import type { ApiKeyPrincipal } from '../../kernel/auth/principal.ts'
import { createCombiner } from '../../kernel/batching/combiner.ts'
import type { Clock } from '../../kernel/clock.ts'
import { apiKeysStore, type KeyUseRow } from './api-keys.store.ts'

export type KeyUseDeps = {
  db: Pick<Database, 'transaction'>
  clock: Clock
  /** Most keys that may wait to be written; the use of one more is not recorded. */
  capacity?: number
}

const defaultCapacity = 16_384

/**
 * When keys were last used. Reading must not become writing, so a use is kept in memory until the
 * next flush, one time per key and generation; a crash loses what was pending and nothing else.
 */
export function createKeyUse({ db, clock, capacity = defaultCapacity }: KeyUseDeps) {
  let pending = new Map<string, KeyUseRow>()
  let dropped = 0

  function keep(use: KeyUseRow): void {
    const name = `${use.id} ${use.generation}`
    const known = pending.get(name)
    if (known === undefined && pending.size >= capacity) dropped += 1
    else if (known === undefined || known.last_used_at < use.last_used_at) pending.set(name, use)
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return
    const taken = [...pending.values()]
    pending = new Map()
    try {
      // Every row is guarded by itself, so nothing is gained by a stricter isolation.
      await db.transaction((tx) => apiKeysStore.recordUse(tx, taken), {
        isolation: 'read committed',
      })
    } catch (error) {
      for (const use of taken) keep(use)
      throw error
    }
  }

  // A caller must see its own uses also when an earlier flush has taken them, or left some behind.
  const flushTogether = createCombiner<undefined, undefined>({
    itemsMax: Number.MAX_SAFE_INTEGER,
    run: async (callers) => {
      await write()
      return callers.map(() => ({ ok: true, value: undefined }))
    },
  })

  return {
    /** Records that the key was used just now. */
    note({ credential_id: id, generation }: ApiKeyPrincipal): void {
      keep({ id, generation, last_used_at: clock.nowUnixMs() })
    },
    /** Writes everything noted so far; when that fails, it stays for the next flush. */
    flush: (): Promise<void> => flushTogether(undefined),
    /** Uses that wait, and those that found no room since the start. */
    backlog: () => ({ name: 'key_use', depth: pending.size, capacity, dropped }),
  }
}
