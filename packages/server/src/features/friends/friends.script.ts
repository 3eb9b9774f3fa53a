import type { friendsScript } from '@guildhall/contract'
import { byScript, type ScriptPart } from '../../kernel/play/script.ts'
import type { Friends } from './friends.service.ts'

/** Relations between accounts for the game's script. */
export function friendFunctions(friends: Friends): ScriptPart<typeof friendsScript> {
  return {
    'friends.list': (_caller, { user_id }) => friends.list(user_id),
    'friends.add': (caller, { user_id, other }) =>
      friends.add(byScript(caller), { user_id, other_id: other }),
    'friends.remove': (caller, { user_id, other }) =>
      friends.remove(byScript(caller), { user_id, other_id: other }),
    'friends.block': (caller, { user_id, other }) =>
      friends.block(byScript(caller), { user_id, other_id: other }),
  }
}
