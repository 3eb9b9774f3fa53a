import type { z } from 'zod'
import { ChatMessage } from '../shapes/chat.ts'
import { Friend } from '../shapes/friends.ts'
import { GroupDetail, GroupSummary } from '../shapes/groups.ts'
import { Leaderboard, LeaderboardRecord, RankedRecord } from '../shapes/leaderboards.ts'
import { Tournament, TournamentEntry, TournamentResult } from '../shapes/tournaments.ts'
import { LedgerEntry } from '../shapes/wallet.ts'
import { once } from '../values/once.ts'
import { ScriptAccount } from './accounts.ts'
import { ChatEvent } from './chat.ts'
import { HookContext } from './hooks.ts'
import { Session } from './messaging.ts'
import { ScriptNotification } from './notifications.ts'
import { RoomLabel, RoomMember, ScriptRoom } from './rooms.ts'
import { IndexRange, ScriptObject, ScriptObjectRow } from './storage.ts'
import { TransactOp } from './transact.ts'

/** The shapes that the type declarations and the reference of scripts call by a name. */
export const scriptTypes = once(
  (): Readonly<Record<string, z.ZodType>> => ({
    Context: HookContext(),
    Session: Session(),
    Room: ScriptRoom(),
    RoomMember: RoomMember(),
    Label: RoomLabel(),
    Object: ScriptObject(),
    ObjectRow: ScriptObjectRow(),
    Range: IndexRange(),
    LedgerEntry: LedgerEntry(),
    Leaderboard: Leaderboard(),
    Record: LeaderboardRecord(),
    RankedRecord: RankedRecord(),
    Tournament: Tournament(),
    TournamentEntry: TournamentEntry(),
    TournamentResult: TournamentResult(),
    Group: GroupDetail(),
    GroupSummary: GroupSummary(),
    Friend: Friend(),
    ChatMessage: ChatMessage(),
    ChatEvent: ChatEvent(),
    Notification: ScriptNotification(),
    Account: ScriptAccount(),
    Op: TransactOp(),
  }),
)
