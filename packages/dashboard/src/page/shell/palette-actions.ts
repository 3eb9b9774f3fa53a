import { api, type Route } from '@guildhall/contract'
import type { Target } from './palette-target.ts'

/** What can be begun from anywhere: each opens the form of its section. */
export const actions: readonly (Target & { calls: Route })[] = [
  action('Create an account', '/accounts', api.consoleAccounts.create),
  action('Create a group', '/groups', api.groups.create),
  action('Write a chat message', '/chat', api.chat.append),
  action('Send a notification', '/notifications', api.notifications.send),
  action('Create a stored object', '/storage', api.storage.put),
  action('Create a leaderboard', '/leaderboards', api.leaderboards.create),
  action('Create a tournament', '/tournaments', api.tournaments.create),
  action('Validate a receipt', '/purchases', api.purchases.validate),
  action('Create an API key', '/api-keys', api.apiKeys.create),
]

function action(label: string, to: string, calls: Route): Target & { calls: Route } {
  return { key: label, label, kind: 'action', glyph: 'plus', to, search: { new: 'yes' }, calls }
}
