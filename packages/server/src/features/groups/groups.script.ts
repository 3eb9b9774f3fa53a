import type { groupsScript } from '@guildhall/contract'
import {
  byScript,
  falseWhenNotFound,
  nullWhenNotFound,
  type ScriptPart,
} from '../../kernel/play/script.ts'
import type { Groups } from './groups.service.ts'

/** Groups for the game's script, under the rules of the console. */
export function groupFunctions(groups: Groups): ScriptPart<typeof groupsScript> {
  return {
    'groups.create': (caller, { group }) => groups.create(byScript(caller), group),
    'groups.list': (_caller, { options }) => groups.list(options),
    'groups.get': (_caller, { id }) => nullWhenNotFound(groups.get(id)),
    'groups.of_user': (_caller, { user_id }) => groups.ofUser(user_id),
    'groups.update': (caller, { id, patch }) => groups.update(byScript(caller), id, patch),
    'groups.remove': (caller, { id }) => falseWhenNotFound(groups.delete(byScript(caller), id)),
    'groups.add_member': (caller, member) => groups.addMember(byScript(caller), member),
    'groups.promote': (caller, member) => groups.move(byScript(caller), member, 'promote'),
    'groups.demote': (caller, member) => groups.move(byScript(caller), member, 'demote'),
    'groups.kick': (caller, member) => groups.move(byScript(caller), member, 'kick'),
  }
}
