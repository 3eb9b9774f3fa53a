import { defineFeature, mount } from '../feature.ts'
import { friendsCheck } from './friends.checks.store.ts'
import { friendHandlers } from './friends.routes.ts'
import { friendFunctions } from './friends.script.ts'
import { createFriends, type FriendsDeps, friendsOf } from './friends.service.ts'
import { friendStory } from './friends.story.store.ts'

type FriendsFeatureDeps = Omit<FriendsDeps, 'accountExists'> & {
  accounts: { exists: FriendsDeps['accountExists'] }
}

/** Relations between accounts. */
export function friendsFeature({ accounts, ...deps }: FriendsFeatureDeps) {
  const friends = createFriends({ ...deps, accountExists: accounts.exists })
  return defineFeature(
    {
      routes: mount({ friends: friendHandlers(friends) }),
      script: friendFunctions(friends),
      related: { friends: { read: friendsOf } },
      checks: [friendsCheck],
      stories: { friend: friendStory },
      crash: { friend_edges: 'friends' },
    },
    friends,
  )
}
