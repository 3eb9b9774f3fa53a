import * as accounts from './accounts.ts'
import * as apiKeys from './api-keys.ts'
import * as audit from './audit.ts'
import * as chat from './chat.ts'
import * as cluster from './cluster.ts'
import * as consoleTokens from './console-tokens.ts'
import * as deployment from './deployment.ts'
import * as friends from './friends.ts'
import * as groups from './groups.ts'
import * as lag from './lag.ts'
import * as leaderboards from './leaderboards.ts'
import * as notifications from './notifications.ts'
import * as playRecords from './play-records.ts'
import * as purchases from './purchases.ts'
import * as schedules from './schedules.ts'
import * as schema from './schema.ts'
import * as storage from './storage.ts'
import type { Table } from './table.ts'
import * as tournaments from './tournaments.ts'
import * as transactions from './transactions.ts'
import * as wallet from './wallet.ts'

const declared = {
  ...schema,
  ...deployment,
  ...accounts,
  ...apiKeys,
  ...audit,
  ...wallet,
  ...friends,
  ...groups,
  ...notifications,
  ...chat,
  ...storage,
  ...leaderboards,
  ...tournaments,
  ...purchases,
  ...schedules,
  ...transactions,
  ...playRecords,
  ...cluster,
  ...consoleTokens,
  ...lag,
}

type Declared = (typeof declared)[keyof typeof declared]

/** Every table of the schema: all that these files declare. */
export const tables: readonly Table[] = Object.values(declared)

export type TableName = Declared['name']

/** Tables whose number of rows is kept. */
export type CountedTable = Extract<Declared, { readonly counted: true }>['name']
