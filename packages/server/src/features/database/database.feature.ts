import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import { defineFeature, mount } from '../feature.ts'
import { createHandles, createSealedHandles } from './database.handles.ts'
import { createExplorerLimit } from './database.limit.ts'
import { databaseHandlers } from './database.routes.ts'
import { createDatabaseExplorer, type ExplorerDeps } from './database.service.ts'

type DatabaseFeatureDeps = Pick<ExplorerDeps, 'recorder'> & {
  db: Pick<ExplorerDeps, 'explorer'>
  clock: Clock
  ids: Ids
  config: { cluster: { enabled: boolean } }
  secrets: { explorer: Uint8Array }
}

/** The database explorer of operators. */
export function databaseFeature(deps: DatabaseFeatureDeps) {
  const { db, clock, config, recorder } = deps
  const handles = config.cluster.enabled
    ? createSealedHandles({ ...deps, secret: deps.secrets.explorer })
    : createHandles(deps)
  const explorer = createDatabaseExplorer({ explorer: db.explorer, handles, recorder })
  const routes = mount(
    { database: databaseHandlers(explorer) },
    { admit: createExplorerLimit(clock) },
  )
  return defineFeature({ routes })
}
