import { storageApi } from '@guildhall/contract'
import { createKnownIndexes } from '../features/storage/storage.entries.ts'
import { createFilters } from '../features/storage/storage.filters.ts'
import { createIndexJobs } from '../features/storage/storage.jobs.ts'
import { createQueries } from '../features/storage/storage.queries.ts'
import { storageHandlers } from '../features/storage/storage.routes.ts'
import { createStorageRuntime } from '../features/storage/storage.runtime.ts'
import { createStorage } from '../features/storage/storage.service.ts'
import { createWriter } from '../features/storage/storage.writer.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

/** Stored objects: the console's section, what scripts may ask, and the indexes over them. */
export function createStorageParts(
  { db, log: shared, config }: Pick<Shared, 'db' | 'log' | 'config'>,
  { mutateMany }: Pick<Trail, 'mutateMany'>,
) {
  const log = shared.component('storage')
  const declared = config.storage.indexes
  const filters = createFilters(declared, log)
  const write = createWriter({ mutateMany, indexes: createKnownIndexes() })
  const indexes = createIndexJobs({ db, log, declared, filters, write })
  const { query } = createQueries({ db, inForce: indexes.inForce })
  return {
    section: {
      routes: bindHandlers(storageApi, storageHandlers(createStorage({ db, write, filters }))),
      pruners: {},
    },
    /** For the game's scripts, which reach it by the host's calls. */
    runtime: {
      ...createStorageRuntime({ db, write, filters }),
      query,
      setFilter: indexes.setFilter,
    },
    indexes,
  }
}
