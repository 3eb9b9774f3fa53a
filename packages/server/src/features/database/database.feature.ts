import { defineFeature, mount } from '../feature.ts'
import { createExplorerLimit } from './database.limit.ts'
import { databaseHandlers } from './database.routes.ts'
import { createDatabaseExplorer, type ExplorerDeps } from './database.service.ts'

/** The database explorer of operators. */
export function databaseFeature(deps: ExplorerDeps) {
  const handlers = databaseHandlers(createDatabaseExplorer(deps))
  const routes = mount({ database: handlers }, { admit: createExplorerLimit(deps.clock) })
  return defineFeature({ routes })
}
