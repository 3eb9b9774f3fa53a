import type { People } from '../../realtime/parties/people.port.ts'
import type { Features } from '../features/features.ts'

/** What parties ask of accounts and their relations. */
export function peopleOf({ accounts, friends }: Pick<Features, 'accounts' | 'friends'>): People {
  return {
    async usernames(user_ids) {
      const found = await accounts.lookup({ user_ids, usernames: [] })
      return new Map(found.map(({ user_id, username }) => [user_id, username]))
    },
    areBlocked: (user_id, other_id) => friends.areBlocked({ user_id, other_id }),
  }
}
