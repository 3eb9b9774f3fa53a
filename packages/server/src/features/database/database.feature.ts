import { defineFeature, mount } from '../feature.ts'
import { createExplorerLimit } from './database.limit.ts'
import { databaseHandlers } from './database.routes.ts'
import { createDatabaseExplorer, type ExplorerDeps } from './database.service.ts'

type DatabaseFeatureDeps = Omit<ExplorerDeps, 'explorer'> & { db: Pick<ExplorerDeps, 'explorer'> }

/** The database explorer of operators. */
export function databaseFeature({ db, ...deps }: DatabaseFeatureDeps) {
  const handlers = databaseHandlers(createDatabaseExplorer({ ...deps, explorer: db.explorer }))
  const routes = mount({ database: handlers }, { admit: createExplorerLimit(deps.clock) })
  return defineFeature({ routes })
}
