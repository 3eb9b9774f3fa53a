import { api, type Route } from '@guildhall/contract'
import type { GlyphName } from '../kit/glyph.tsx'

/** A section of the menu. It is there for those who may call what it reads. */
export type Section = {
  path: string
  label: string
  glyph: GlyphName
  reads: Route
}

/** The menu, group by group. */
export const sectionGroups: Readonly<Record<string, readonly Section[]>> = {
  Now: [
    { path: '/', label: 'Overview', glyph: 'home', reads: api.console.me },
    { path: '/rooms', label: 'Rooms', glyph: 'door', reads: api.matches.list },
    { path: '/nodes', label: 'Nodes', glyph: 'nodes', reads: api.matches.nodes },
    { path: '/telemetry', label: 'Telemetry', glyph: 'pulse', reads: api.telemetry.host },
    { path: '/lag', label: 'Lag', glyph: 'lag', reads: api.lag.captures },
    { path: '/errors', label: 'Errors', glyph: 'alert', reads: api.errorJournal.list },
  ],
  Players: [
    { path: '/accounts', label: 'Accounts', glyph: 'person', reads: api.consoleAccounts.list },
    { path: '/groups', label: 'Groups', glyph: 'people', reads: api.groups.list },
    { path: '/chat', label: 'Chat', glyph: 'chat', reads: api.chat.list },
    {
      path: '/notifications',
      label: 'Notifications',
      glyph: 'bell',
      reads: api.notifications.list,
    },
  ],
  Game: [
    { path: '/storage', label: 'Storage', glyph: 'box', reads: api.storage.collections },
    { path: '/leaderboards', label: 'Leaderboards', glyph: 'trophy', reads: api.leaderboards.list },
    { path: '/tournaments', label: 'Tournaments', glyph: 'flag', reads: api.tournaments.list },
    {
      path: '/match-records',
      label: 'Match records',
      glyph: 'record',
      reads: api.matchRecords.list,
    },
    { path: '/logs', label: 'Script logs', glyph: 'list', reads: api.scriptLogs.list },
    { path: '/runtime', label: 'Runtime', glyph: 'play', reads: api.runtime.get },
  ],
  Shop: [
    { path: '/purchases', label: 'Purchases', glyph: 'cart', reads: api.purchases.list },
    {
      path: '/subscriptions',
      label: 'Subscriptions',
      glyph: 'repeat',
      reads: api.subscriptions.list,
    },
  ],
  System: [
    { path: '/audit', label: 'Audit', glyph: 'book', reads: api.audit.list },
    { path: '/api-keys', label: 'API keys', glyph: 'key', reads: api.apiKeys.list },
    { path: '/database', label: 'Database', glyph: 'table', reads: api.database.tables },
    { path: '/config', label: 'Configuration', glyph: 'gear', reads: api.config.get },
  ],
}

export const sections = Object.values(sectionGroups).flat()
