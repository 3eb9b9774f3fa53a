import { GuildhallError } from '../worker/errors.ts'

/** Names of the script interface that this version does not offer yet. */
const unavailableNames = [
  'on_room_create',
  'on_room_join',
  'on_matchmaker_matched',
  'on_match_created',
  'on_match_started',
  'on_match_join',
  'on_match_leave',
  'on_match_ended',
  'register_storage_index_filter',
  'room_list',
  'room_members',
  'room_update',
  'room_remove',
  'storage_read',
  'storage_write',
  'storage_delete',
  'storage_index_query',
  'log',
  'match',
  'wallet',
  'leaderboards',
  'groups',
  'friends',
  'chat',
  'notifications',
  'accounts',
  'http',
  'telemetry',
  'lag',
]

/** Makes a mere mention of a missing name an error that says so, at the top level a failed load. */
export function refuseUnavailable(api: object): void {
  for (const name of unavailableNames) {
    Object.defineProperty(api, name, {
      enumerable: false,
      get() {
        throw new GuildhallError('unavailable', `guildhall.${name} is not part of this version`)
      },
    })
  }
}
