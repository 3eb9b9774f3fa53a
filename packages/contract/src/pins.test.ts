import { expect, it } from 'vitest'
import { api, isForOperators, type Route } from './index.ts'

/**
 * Every route of the product, frozen: name; method and path; access; scope; audit action; statuses
 * of success; declared refusals. A change of any of them is a change of the interface and has to be
 * made here as well.
 */
const pins: readonly string[] = [
  'signIn.device | POST /v1/auth/device | public | - | - | 200 201 | authentication_failed conflict rate_limited',
  'signIn.custom | POST /v1/auth/custom | public | - | - | 200 201 | authentication_failed conflict rate_limited',
  'signIn.email | POST /v1/auth/email | public | - | - | 200 201 | authentication_failed conflict rate_limited',
  'sessions.refresh | POST /v1/session/refresh | public | - | - | 200 | authentication_failed',
  'sessions.logout | POST /v1/session/logout | public, bearer optional | - | - | 204 | authentication_failed',
  'accounts.get | GET /v1/account | player | - | - | 200 | -',
  'accounts.patch | PATCH /v1/account | player | - | - | 200 | conflict',
  'accounts.lookup | POST /v1/users/lookup | player | - | - | 200 | -',
  'console.login | POST /console/v1/login | public | - | - | 200 | authentication_failed rate_limited',
  'console.logout | POST /console/v1/logout | operator, bearer handed on | no key | console.logout | 204 | -',
  'console.me | GET /console/v1/me | operator | any key | - | 200 | -',
  'config.get | GET /console/v1/config | operator | config:read | - | 200 | -',
  'audit.list | GET /console/v1/audit | operator | audit:read | - | 200 | -',
  'apiKeys.list | GET /console/v1/api-keys | admin | no key | - | 200 | -',
  'apiKeys.create | POST /console/v1/api-keys | admin | - | api_keys.create | 201 | conflict',
  'apiKeys.get | GET /console/v1/api-keys/{id} | admin | no key | - | 200 | not_found',
  'apiKeys.rotate | POST /console/v1/api-keys/{id}/rotate | admin | - | api_keys.rotate | 200 | not_found conflict',
  'apiKeys.revoke | POST /console/v1/api-keys/{id}/revoke | admin | - | api_keys.revoke | 200 | not_found conflict',
  'consoleAccounts.list | GET /console/v1/accounts | operator | accounts:read | - | 200 | -',
  'consoleAccounts.search | GET /console/v1/account-search | operator | accounts:read | - | 200 | -',
  'consoleAccounts.usernames | GET /console/v1/usernames | operator | accounts:read | - | 200 | -',
  'consoleAccounts.create | POST /console/v1/accounts | admin | - | accounts.create | 201 | conflict',
  'consoleAccounts.get | GET /console/v1/accounts/{id} | operator | accounts:read | - | 200 | not_found',
  'consoleAccounts.update | PUT /console/v1/accounts/{id} | admin | - | accounts.update | 200 | not_found conflict',
  'consoleAccounts.ban | POST /console/v1/accounts/{id}/ban | admin | - | accounts.ban | 200 | not_found conflict',
  'consoleAccounts.unban | POST /console/v1/accounts/{id}/unban | admin | - | accounts.unban | 200 | not_found conflict',
  'consoleAccounts.delete | DELETE /console/v1/accounts/{id} | admin | - | accounts.delete | 204 | not_found',
  'consoleAccounts.timeline | GET /console/v1/accounts/{id}/timeline | operator | accounts:read | - | 200 | not_found',
  'consoleAccounts.export | GET /console/v1/accounts/{id}/export | operator | accounts:read | - | 200 | not_found',
  'consoleSessions.list | GET /console/v1/accounts/{id}/sessions | operator | accounts:read | - | 200 | not_found',
  'consoleSessions.lastSeen | GET /console/v1/accounts/{id}/last-seen | operator | accounts:read | - | 200 | not_found',
  'consoleSessions.revokeAll | POST /console/v1/accounts/{id}/sessions/revoke | admin | - | accounts.sessions.revoke_all | 200 | not_found',
  'consoleSessions.revoke | POST /console/v1/accounts/{id}/sessions/{session_id}/revoke | admin | - | accounts.sessions.revoke | 200 | not_found',
  'wallet.get | GET /console/v1/accounts/{id}/wallet | operator | accounts:read | - | 200 | not_found',
  'wallet.ledger | GET /console/v1/accounts/{id}/ledger | operator | accounts:read | - | 200 | not_found',
  'wallet.adjust | POST /console/v1/accounts/{id}/wallet | admin | - | accounts.wallet.adjust | 200 | not_found conflict',
  'friends.list | GET /console/v1/accounts/{id}/friends | operator | accounts:read | - | 200 | not_found',
  'friends.add | POST /console/v1/accounts/{id}/friends | admin | - | accounts.friends.add | 200 | not_found conflict',
  'friends.remove | DELETE /console/v1/accounts/{id}/friends/{other} | admin | - | accounts.friends.remove | 204 | -',
  'groups.list | GET /console/v1/groups | operator | groups:read | - | 200 | -',
  'groups.create | POST /console/v1/groups | admin | - | groups.create | 201 | conflict',
  'groups.get | GET /console/v1/groups/{id} | operator | groups:read | - | 200 | not_found',
  'groups.update | PUT /console/v1/groups/{id} | admin | - | groups.update | 200 | not_found',
  'groups.delete | DELETE /console/v1/groups/{id} | admin | - | groups.delete | 204 | not_found',
  'groups.addMember | POST /console/v1/groups/{id}/members | admin | - | groups.member.add | 200 | not_found conflict',
  'groups.promote | POST /console/v1/groups/{id}/members/{user_id}/promote | admin | - | groups.member.promote | 200 | not_found conflict',
  'groups.demote | POST /console/v1/groups/{id}/members/{user_id}/demote | admin | - | groups.member.demote | 200 | not_found conflict',
  'groups.kick | POST /console/v1/groups/{id}/members/{user_id}/kick | admin | - | groups.member.kick | 200 | not_found conflict',
  'chat.list | GET /console/v1/chat | operator | chat:read | - | 200 | -',
  'chat.append | POST /console/v1/chat/{channel}/messages | admin | - | chat.message.append | 200 | -',
  'chat.history | GET /console/v1/chat/{channel}/messages | operator | chat:read | - | 200 | -',
  'chat.delete | DELETE /console/v1/chat/{channel}/messages/{id} | admin | - | chat.message.delete | 204 | not_found',
  'notifications.list | GET /console/v1/notifications | operator | notifications:read | - | 200 | -',
  'notifications.send | POST /console/v1/notifications | admin | - | notifications.send | 201 | -',
  'notifications.delete | DELETE /console/v1/notifications/{id} | admin | - | notifications.delete | 204 | not_found',
  'storage.collections | GET /console/v1/storage | operator | storage:read | - | 200 | -',
  'storage.list | GET /console/v1/storage/{collection} | operator | storage:read | - | 200 | -',
  'storage.values | GET /console/v1/storage-values/{collection} | operator | storage:read | - | 200 | -',
  'storage.get | GET /console/v1/storage/{collection}/{key} | operator | storage:read | - | 200 | not_found',
  'storage.put | PUT /console/v1/storage/{collection}/{key} | admin | - | storage.write | 200 | conflict',
  'storage.import | POST /console/v1/storage-import | admin | - | storage.write | 200 | conflict',
  'storage.delete | DELETE /console/v1/storage/{collection}/{key} | admin | - | storage.delete | 204 | conflict',
  'leaderboards.list | GET /console/v1/leaderboards | operator | leaderboards:read | - | 200 | -',
  'leaderboards.create | POST /console/v1/leaderboards | admin | - | leaderboards.create | 201 | conflict',
  'leaderboards.delete | DELETE /console/v1/leaderboards/{id} | admin | - | leaderboards.delete | 204 | not_found',
  'leaderboards.submit | POST /console/v1/leaderboards/{id}/records | admin | - | leaderboards.record.submit | 200 | not_found',
  'leaderboards.records | GET /console/v1/leaderboards/{id}/records | operator | leaderboards:read | - | 200 | not_found',
  'leaderboards.ranks | GET /console/v1/accounts/{id}/ranks | operator | leaderboards:read | - | 200 | -',
  'leaderboards.deleteRecord | DELETE /console/v1/leaderboards/{id}/records/{user_id} | admin | - | leaderboards.record.delete | 204 | not_found',
  'tournaments.list | GET /console/v1/tournaments | operator | tournaments:read | - | 200 | -',
  'tournaments.create | POST /console/v1/tournaments | admin | - | tournaments.create | 201 | conflict',
  'tournaments.get | GET /console/v1/tournaments/{id} | operator | tournaments:read | - | 200 | not_found',
  'tournaments.transition | POST /console/v1/tournaments/{id}/transition | admin | - | tournaments.transition | 200 | not_found conflict',
  'tournaments.entries | GET /console/v1/tournaments/{id}/entries | operator | tournaments:read | - | 200 | not_found',
  'tournaments.results | GET /console/v1/tournaments/{id}/results | operator | tournaments:read | - | 200 | not_found',
  'purchases.list | GET /console/v1/purchases | operator | purchases:read | - | 200 | -',
  'purchases.validate | POST /console/v1/purchases | admin | - | purchases.validate | 201 | conflict',
  'purchases.get | GET /console/v1/purchases/{transaction_id} | operator | purchases:read | - | 200 | not_found',
  'purchases.search | GET /console/v1/purchase-search | operator | purchases:read | - | 200 | -',
  'purchases.sums | GET /console/v1/purchase-sums | operator | purchases:read | - | 200 | -',
  'subscriptions.list | GET /console/v1/subscriptions | operator | subscriptions:read | - | 200 | -',
  'database.tables | GET /console/v1/database | operator | database:read | database.tables | 200 | rate_limited deadline_exceeded',
  'database.describe | GET /console/v1/database/{schema}/{table} | operator | database:read | database.describe | 200 | forbidden rate_limited not_found deadline_exceeded',
  'database.rows | POST /console/v1/database/rows | operator | database:read | database.rows | 200 | forbidden rate_limited not_found deadline_exceeded',
  'database.row | POST /console/v1/database/row | operator | database:read | database.row | 200 | forbidden rate_limited not_found deadline_exceeded',
  'matches.nodes | GET /console/v1/nodes | operator | matches:read | - | 200 | -',
  'matches.list | GET /console/v1/matches | operator | matches:read | - | 200 | runtime_unavailable',
  'matches.get | GET /console/v1/matches/{id} | operator | matches:read | - | 200 | not_found runtime_unavailable',
  'matches.state | GET /console/v1/matches/{id}/state | operator | matches:read | - | 200 | not_found runtime_unavailable',
  'matches.traffic | GET /console/v1/matches/{id}/traffic | operator | matches:read | - | 200 | not_found runtime_unavailable',
  'matches.close | POST /console/v1/matches/{room_id}/close | admin | - | match.close | 204 | not_found conflict',
  'matches.remove | POST /console/v1/matches/{room_id}/members/{participant}/remove | admin | - | match.remove | 204 | not_found conflict',
  'runtime.get | GET /console/v1/runtime | operator | runtime:read | - | 200 | -',
  'runtime.failures | GET /console/v1/runtime/failures | operator | runtime:read | - | 200 | -',
  'runtime.rpc | POST /console/v1/runtime/rpc/{method} | admin | - | runtime.rpc | 200 | not_found runtime_unavailable',
  'errorJournal.list | GET /console/v1/errors | operator | errors:read | - | 200 | -',
  'matchRecords.list | GET /console/v1/matchlogs | operator | matches:read | matchlog.list | 200 | -',
  'matchRecords.get | GET /console/v1/matchlogs/{match_id} | operator | matches:read | matchlog.detail | 200 | not_found',
  'matchRecords.entries | GET /console/v1/matchlogs/{match_id}/entries | operator | matches:read | matchlog.entries | 200 | not_found',
  'scriptLogs.list | GET /console/v1/logs | operator | logs:read | logs.list | 200 | -',
  'scriptLogs.get | GET /console/v1/logs/{log_id} | operator | logs:read | logs.detail | 200 | not_found',
  'scriptLogs.search | GET /console/v1/log-search | operator | logs:read | logs.list | 200 | -',
  'telemetry.host | GET /console/v1/telemetry | operator | telemetry:read | - | 200 | -',
  'telemetry.slices | GET /console/v1/telemetry/slices | operator | telemetry:read | - | 200 | -',
  'telemetry.slice | GET /console/v1/telemetry/slices/{report_id} | operator | telemetry:read | - | 200 | not_found',
  'history.get | GET /console/v1/history | operator | telemetry:read | - | 200 | -',
  'lag.reports | GET /console/v1/lag/reports | operator | no key | - | 200 | -',
  'lag.report | GET /console/v1/lag/reports/{report_id} | operator | no key | - | 200 | not_found',
  'lag.windows | GET /console/v1/lag/reports/{report_id}/windows | operator | no key | - | 200 | not_found',
  'lag.captures | GET /console/v1/lag/captures | operator | no key | - | 200 | -',
  'lag.raw | GET /console/v1/lag/captures/{capture_id}/raw | admin | no key | lag.raw.list | 200 | not_found',
  'lag.download | GET /console/v1/lag/captures/{capture_id}/raw/{handle} | admin | no key | lag.raw.download | 200 | not_found',
  'lag.deleteRaw | DELETE /console/v1/lag/captures/{capture_id}/raw/{handle} | admin | - | lag.raw.delete | 204 | not_found',
  'lag.regenerate | POST /console/v1/lag/captures/{capture_id}/regenerate | admin | - | lag.regenerate | 200 | not_found conflict',
  'lagUpload.upload | POST /v1/diagnostics/captures/upload | public | - | - | 204 | not_found',
  'realtime.connect | GET /v1/realtime | public | - | - | 101 | forbidden rate_limited',
  'shell.health | GET /health | public | - | - | 200 503 | -',
  'shell.live | GET /health/live | public | - | - | 200 | -',
  'shell.ready | GET /health/ready | public | - | - | 200 503 | -',
  'shell.status | GET /status | public | - | - | 200 | -',
]

const routes: [name: string, route: Route][] = Object.entries(api).flatMap(([feature, rows]) =>
  Object.entries(rows).map(([name, route]): [string, Route] => [`${feature}.${name}`, route]),
)

function pinOf([name, route]: [string, Route]): string {
  const { method, path, access, bearer, scope, audit, ok, file, status, errors } = route
  return [
    name,
    `${method} ${path}`,
    bearer === undefined ? access : `${access}, bearer ${bearer}`,
    scope ?? '-',
    audit ?? '-',
    [status ?? (ok === undefined && !file ? 204 : 200)].flat().join(' '),
    errors?.join(' ') || '-',
  ].join(' | ')
}

it('[H-AUTH-5] [H-OPS-8] the table of routes is the frozen list', () => {
  expect(routes.map(pinOf)).toEqual(pins)
})

it('[H-GEN-27] no method and path stand twice, whatever their parameters are called', () => {
  const places = routes.map(
    ([, { method, path }]) => `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`,
  )
  expect(new Set(places).size).toBe(places.length)
})

it.each(routes)(
  '[H-GEN-23] the path of %s has no odd characters and declares its parameters',
  (_name, route) => {
    expect(route.path).toMatch(/^(\/([a-z0-9_.-]+|\{[a-z_]+\}))+$/)
    const segments = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
    expect(Object.keys(route.params?.shape ?? {})).toEqual(segments)
  },
)

it.each(routes)(
  '[H-AUTH-5] the access of %s is that of its path',
  (_name, { path, method, access, audit, scope }) => {
    if (access === 'operator' || access === 'admin') expect(path).toMatch(/^\/console\/v1\//)
    if (access === 'player') expect(path).toMatch(/^\/v1\//)
    if (path.startsWith('/console/v1/') && path !== '/console/v1/login') {
      expect(['operator', 'admin']).toContain(access)
      if (method !== 'GET') expect(audit).toBeDefined()
      if (method !== 'GET' && scope !== undefined && scope !== 'no key')
        expect(path).toMatch(/^\/console\/v1\/database\/rows?$/)
    }
  },
)

it.each(routes)(
  '[H-GEN-31] [H-PUB-1] %s may be kept by caches or not, as its path says',
  (_name, route) => {
    const isPrivate = /^\/(console|v1\/(auth|session|account)|health|status)(\/|$)/.test(route.path)
    expect(route.noStore ?? isForOperators(route)).toBe(isPrivate)
  },
)

it.each(routes)(
  '[H-GEN-34] [H-LAG-12] %s is open to other origins or not, as its path says',
  (_name, route) => {
    const isOpen = /^\/(v1\/|status$)/.test(route.path) && !route.raw
    expect(route.crossOrigin ?? route.access === 'player').toBe(isOpen)
  },
)

it.each(routes)('[H-GEN-10] %s takes as large a body as its path says', (name, route) => {
  const usual = route.path.startsWith('/console/') ? 65_536 : 16_384
  const bytesMax = route.bodyBytesMax ?? (isForOperators(route) ? 65_536 : 16_384)
  const large = { 'storage.put': 528_384, 'storage.import': 1_048_576 }
  expect(bytesMax).toBe(new Map(Object.entries(large)).get(name) ?? usual)
})

it('[H-AUD-7] keeps reads of what was recorded, and only those, from the durable trail', () => {
  const ringOnly = routes.filter(([, route]) => 'trail' in route).map(([, { path }]) => path)
  const records = /^\/console\/v1\/(audit|logs|log-search|matchlogs)(\/|$)/
  const paths = routes.map(([, { path }]) => path).filter((path) => records.test(path))
  expect(ringOnly).toEqual(paths)
})

it.each(routes)(
  '[H-GEN-25] [H-GEN-13] what %s declares to take is strict',
  (_name, { query, body }) => {
    if (query !== undefined)
      expect(query.safeParse({ '\u0000undeclared': 'x' }).success).toBe(false)
    if (body !== undefined) expect(body.safeParse({ '\u0000undeclared': 'x' }).success).toBe(false)
  },
)

it.each(routes)(
  '[H-GEN-25] %s rejects undeclared keys where even a route without parameters must',
  (_name, { path, query, method }) => {
    const strict = /^\/console\/v1\/(logs|matchlogs|audit)(\/|$)/.test(path)
    expect(!(strict && method === 'GET') || query !== undefined).toBe(true)
  },
)
