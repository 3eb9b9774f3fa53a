import { defineFeature, mount } from '../feature.ts'
import { friendHandlers } from './friends.routes.ts'
import { createFriends, type FriendsDeps } from './friends.service.ts'

/** Relations between accounts. */
export function friendsFeature(deps: FriendsDeps) {
  return defineFeature({ routes: mount({ friends: friendHandlers(createFriends(deps)) }) })
}
