import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { readQuery, writeQuery } from './data/location.ts'
import { Empty } from './kit/states.tsx'
import { AccountPage } from './sections/accounts/account-page.tsx'
import { AccountsPage } from './sections/accounts/accounts-page.tsx'
import { OverviewPage } from './sections/overview/overview-page.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NoSuchPage })

const views = [
  createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage }),
  createRoute({ getParentRoute: () => root, path: '/accounts', component: AccountsPage }),
  createRoute({ getParentRoute: () => root, path: '/accounts/$id', component: AccountPage }),
]

export const router = createRouter({
  routeTree: root.addChildren(views),
  basepath: '/dashboard',
  parseSearch: readQuery,
  stringifySearch: writeQuery,
  trailingSlash: 'never',
  scrollRestoration: false,
})

function NoSuchPage() {
  return (
    <Empty title="There is no such page">
      The address may be mistyped, or of another version of Guildhall.
    </Empty>
  )
}
