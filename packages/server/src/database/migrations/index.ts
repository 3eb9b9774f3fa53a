import { foundation } from './0001-foundation.ts'
import { people } from './0002-people.ts'
import { storage } from './0003-storage.ts'
import { leaderboards } from './0004-leaderboards.ts'
import { tournaments } from './0005-tournaments.ts'
import { purchases } from './0006-purchases.ts'
import { transactions } from './0007-transactions.ts'
import { playRecords } from './0008-play-records.ts'
import { cluster } from './0009-cluster.ts'
import { lag } from './0010-lag.ts'
import { stories } from './0011-stories.ts'
import { accountSearch } from './0012-account-search.ts'
import { schedules } from './0013-schedules.ts'
import { products } from './0014-products.ts'
import { consoleTokens } from './0015-console-tokens.ts'
import { replacedSessions } from './0016-replaced-sessions.ts'
import { lastSeen } from './0017-last-seen.ts'
import { captureFilters } from './0018-capture-filters.ts'
import { numberedConnections } from './0019-numbered-connections.ts'
import { linesAhead } from './0020-lines-ahead.ts'
import type { Migration } from './migration.ts'

/** Every migration, in order. A released one never changes: its checksum is recorded. */
export const migrations: readonly Migration[] = [
  foundation,
  people,
  storage,
  leaderboards,
  tournaments,
  purchases,
  transactions,
  playRecords,
  cluster,
  lag,
  stories,
  accountSearch,
  schedules,
  products,
  consoleTokens,
  replacedSessions,
  lastSeen,
  captureFilters,
  numberedConnections,
  linesAhead,
]
