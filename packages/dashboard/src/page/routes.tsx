import {
  createRootRoute,
  createRoute,
  createRouter,
  type LocationRewrite,
  type RouteComponent,
} from '@tanstack/react-router'
import { readQuery, writeQuery } from './data/location.ts'
import { Page } from './kit/page.tsx'
import { Empty } from './kit/states.tsx'
import { AccountPage } from './sections/accounts/account-page.tsx'
import { AccountsPage } from './sections/accounts/accounts-page.tsx'
import { ApiKeysPage } from './sections/api-keys/api-keys-page.tsx'
import { AuditPage } from './sections/audit/audit-page.tsx'
import { ChatPage } from './sections/chat/chat-page.tsx'
import { ConfigPage } from './sections/config/config-page.tsx'
import { DatabasePage } from './sections/database/database-page.tsx'
import { ErrorJournalPage } from './sections/error-journal/error-journal-page.tsx'
import { GroupsPage } from './sections/groups/groups-page.tsx'
import { CapturePage } from './sections/lag/capture-page.tsx'
import { LagPage } from './sections/lag/lag-page.tsx'
import { LeaderboardsPage } from './sections/leaderboards/leaderboards-page.tsx'
import { LogsPage } from './sections/logs/logs-page.tsx'
import { MatchRecordsPage } from './sections/match-records/match-records-page.tsx'
import { NodesPage } from './sections/nodes/nodes-page.tsx'
import { NotificationsPage } from './sections/notifications/notifications-page.tsx'
import { OverviewPage } from './sections/overview/overview-page.tsx'
import { PurchasesPage } from './sections/purchases/purchases-page.tsx'
import { RoomsPage } from './sections/rooms/rooms-page.tsx'
import { RuntimePage } from './sections/runtime/runtime-page.tsx'
import { StoragePage } from './sections/storage/storage-page.tsx'
import { SubscriptionsPage } from './sections/subscriptions/subscriptions-page.tsx'
import { TelemetryPage } from './sections/telemetry/telemetry-page.tsx'
import { TournamentsPage } from './sections/tournaments/tournaments-page.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NoSuchPage })

/** Every view by its path below `/dashboard`. */
const pages: Readonly<Record<string, RouteComponent>> = {
  '/': OverviewPage,
  '/accounts': AccountsPage,
  '/accounts/$id': AccountPage,
  '/groups': GroupsPage,
  '/groups/$id': GroupsPage,
  '/chat': ChatPage,
  '/chat/$channel': ChatPage,
  '/notifications': NotificationsPage,
  '/storage': StoragePage,
  '/leaderboards': LeaderboardsPage,
  '/leaderboards/$id': LeaderboardsPage,
  '/tournaments': TournamentsPage,
  '/tournaments/$id': TournamentsPage,
  '/purchases': PurchasesPage,
  '/purchases/$id': PurchasesPage,
  '/subscriptions': SubscriptionsPage,
  '/nodes': NodesPage,
  '/rooms': RoomsPage,
  '/rooms/$id': RoomsPage,
  '/telemetry': TelemetryPage,
  '/lag': LagPage,
  '/lag/$id': CapturePage,
  '/errors': ErrorJournalPage,
  '/match-records': MatchRecordsPage,
  '/match-records/$id': MatchRecordsPage,
  '/logs': LogsPage,
  '/logs/$id': LogsPage,
  '/runtime': RuntimePage,
  '/database': DatabasePage,
  '/audit': AuditPage,
  '/config': ConfigPage,
  '/api-keys': ApiKeysPage,
}

const views = Object.entries(pages).map(([path, component]) =>
  createRoute({ getParentRoute: () => root, path, component }),
)

/** The router's own base path ends the first view in a slash, which the node does not serve. */
function below(base: string): LocationRewrite {
  return {
    input({ url }) {
      if (`${url.pathname}/`.startsWith(`${base}/`)) url.pathname = url.pathname.slice(base.length)
      return url
    },
    output({ url }) {
      url.pathname = url.pathname === '/' ? base : `${base}${url.pathname}`
      return url
    },
  }
}

export const router = createRouter({
  routeTree: root.addChildren(views),
  rewrite: below('/dashboard'),
  parseSearch: readQuery,
  stringifySearch: writeQuery,
  trailingSlash: 'never',
  scrollRestoration: false,
})

function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <Empty>The address may be mistyped, or of another version of Guildhall.</Empty>
    </Page>
  )
}
