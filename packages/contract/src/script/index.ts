import { accountsScript } from './accounts.ts'
import { chatScript } from './chat.ts'
import { friendsScript } from './friends.ts'
import { groupsScript } from './groups.ts'
import { httpScript } from './http.ts'
import { lagScript } from './lag.ts'
import { leaderboardsScript } from './leaderboards.ts'
import { logsScript } from './logs.ts'
import { matchmakerScript } from './matchmaker.ts'
import { messagingScript } from './messaging.ts'
import { notificationsScript } from './notifications.ts'
import { roomsScript } from './rooms.ts'
import { storageScript } from './storage.ts'
import { timingScript } from './timing.ts'
import { toolsScript } from './tools.ts'
import { tournamentsScript } from './tournaments.ts'
import { transactScript } from './transact.ts'
import { walletScript } from './wallet.ts'

/** Every function that scripts know as `guildhall.<name>`. */
export const scriptApi = {
  ...messagingScript,
  ...roomsScript,
  ...timingScript,
  ...toolsScript,
  ...matchmakerScript,
  ...storageScript,
  ...transactScript,
  ...walletScript,
  ...leaderboardsScript,
  ...tournamentsScript,
  ...groupsScript,
  ...friendsScript,
  ...chatScript,
  ...notificationsScript,
  ...accountsScript,
  ...logsScript,
  ...httpScript,
  ...lagScript,
}
export type ScriptFunctionName = keyof typeof scriptApi
