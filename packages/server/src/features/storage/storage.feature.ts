import type { Database, Transaction } from '../../database/database.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Mutate, MutateMany } from '../../kernel/mutation.ts'
import { defineFeature, mount } from '../feature.ts'
import { createKnownIndexes } from './indexes/entries.ts'
import { createFilters } from './indexes/filters.ts'
import { createIndexJobs, indexIntervalMs } from './indexes/indexes.jobs.ts'
import type { IndexDeclaration } from './indexes/indexes.ts'
import { createQueries } from './indexes/queries.ts'
import { storageCheck } from './storage.checks.store.ts'
import { createStorageImport } from './storage.import.ts'
import { storageHandlers } from './storage.routes.ts'
import { type Asking, createStorageRuntime } from './storage.runtime.ts'
import { changeOf, type ObjectOperation, storageFunctions } from './storage.script.ts'
import { createStorage, storageOf } from './storage.service.ts'
import { createWriter } from './writes/writer.ts'

type StorageFeatureDeps = {
  db: Database
  log: Log
  mutate: Mutate<Transaction>
  mutateMany: MutateMany<Transaction>
  config: { storage: { indexes: readonly IndexDeclaration[] } }
}

const ofIndexes = { not: 'the load declares no indexes' }

/** Stored objects: the console's section, what scripts may ask, and the indexes over them. */
export function storageFeature({ db, mutate, mutateMany, config, ...deps }: StorageFeatureDeps) {
  const declared = config.storage.indexes
  const log = deps.log.component('storage')
  const filters = createFilters(declared, log)
  const known = createKnownIndexes()
  const write = createWriter({ db, mutateMany, indexes: known })
  const indexes = createIndexJobs({ db, log, declared, filters, write })
  const { query } = createQueries({ db, inForce: indexes.inForce })
  const runtime = {
    ...createStorageRuntime({ db, write, filters, indexes: known }),
    query,
    setFilter: indexes.setFilter,
  }
  return defineFeature(
    {
      routes: mount({
        storage: storageHandlers(
          createStorage({ db, write, filters }),
          createStorageImport({ db, mutate, filters, indexes: known }),
        ),
      }),
      script: storageFunctions(runtime),
      related: { storage: { scope: 'storage:read', read: storageOf } },
      checks: [storageCheck],
      crash: {
        storage_objects: 'storage',
        storage_collections: 'storage',
        storage_index_guard: ofIndexes,
        storage_indexes: ofIndexes,
        storage_index_entries: ofIndexes,
        storage_index_pending: ofIndexes,
      },
      tasks: [
        {
          name: 'storage-indexes',
          intervalMs: indexIntervalMs,
          run: indexes.keep,
          needsDatabase: true,
          started: ({ wake }) => indexes.wakeBy(wake),
        },
      ],
    },
    {
      /** For the game's scripts. */
      runtime,
      /** Writes and deletes of scripts as part of a transaction of another feature. */
      prepare: (operations: readonly ObjectOperation[], asking: Asking) =>
        runtime.prepare(operations.map(changeOf), asking),
      apply: runtime.apply,
      indexes,
    },
  )
}
