import { expect, it } from 'vitest'
import type { Database } from '../database/database.ts'
import { testBackends } from '../database/testing/backends.ts'
import { openTestApi } from '../testing/api.ts'

it.each(testBackends)(
  '[O-SCH-2] everything is pruned under the lease on $name',
  async (backend) => {
    const test = await backend.open()
    let armed = false
    const real = test.db
    const usable = (): Database => {
      if (armed) throw new Error('a pruner changes the store beside the transaction of its lease')
      return real
    }
    const db: Database = {
      ...real,
      run: async (...call) => usable().run(...call),
      each: async (...call) => usable().each(...call),
      transaction: async (...call) => usable().transaction(...call),
    }
    const api = await openTestApi({ db })
    armed = true
    for (const [data, prune] of Object.entries(api.pruners)) {
      await expect(prune(10, real.transaction), data).resolves.toBe(0)
    }
    await expect(api.pruner('audit_entries')(10)).rejects.toThrow('beside the transaction')
    armed = false
    await api.close()
    await test.dispose()
  },
)
