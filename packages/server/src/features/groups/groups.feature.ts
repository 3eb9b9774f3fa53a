import { defineFeature, mount } from '../feature.ts'
import { groupsCheck } from './groups.checks.store.ts'
import { groupHandlers } from './groups.routes.ts'
import { groupFunctions } from './groups.script.ts'
import { createGroups, type GroupsDeps, groupsOf } from './groups.service.ts'
import { groupStory } from './groups.story.store.ts'

/** Groups of accounts with roles. */
export function groupsFeature(deps: GroupsDeps) {
  const groups = createGroups(deps)
  return defineFeature({
    routes: mount({ groups: groupHandlers(groups) }),
    script: groupFunctions(groups),
    related: { groups: { scope: 'groups:read', read: groupsOf } },
    checks: [groupsCheck],
    stories: { group: groupStory },
    crash: {
      groups: 'groups',
      group_members: 'groups',
    },
  })
}
