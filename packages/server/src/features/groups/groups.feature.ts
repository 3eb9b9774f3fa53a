import { defineFeature, mount } from '../feature.ts'
import { groupHandlers } from './groups.routes.ts'
import { createGroups, type GroupsDeps } from './groups.service.ts'

/** Groups of accounts with roles. */
export function groupsFeature(deps: GroupsDeps) {
  return defineFeature({ routes: mount({ groups: groupHandlers(createGroups(deps)) }) })
}
