import { defineFeature, mount } from '../feature.ts'
import { type ConfigView, configHandlers } from './config.routes.ts'

/** What the node was configured with, without its secrets. */
export function configFeature(view: ConfigView) {
  return defineFeature({ routes: mount({ config: configHandlers(view) }) })
}
