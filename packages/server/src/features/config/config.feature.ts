import { defineFeature, mount } from '../feature.ts'
import { type ConfigView, configHandlers, type SourceOf } from './config.routes.ts'

/** What the node was configured with, without its secrets. */
export function configFeature(view: ConfigView, sourceOf: SourceOf) {
  return defineFeature({ routes: mount({ config: configHandlers(view, sourceOf) }) })
}
