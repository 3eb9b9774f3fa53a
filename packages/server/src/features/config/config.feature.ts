import { defineFeature, mount } from '../feature.ts'
import { type ConfigView, configHandlers, type SourceOf } from './config.routes.ts'

type ConfigFeatureDeps = Pick<ConfigView, 'version' | 'groups'> & {
  db: { backend: ConfigView['backend'] }
  nodeId: string
  sourceOf: SourceOf
}

/** What the node was configured with, without its secrets. */
export function configFeature({ db, nodeId, version, groups, sourceOf }: ConfigFeatureDeps) {
  const view = { node_id: nodeId, version, backend: db.backend, groups }
  return defineFeature({ routes: mount({ config: configHandlers(view, sourceOf) }) })
}
