import { leaderboardsApi, type leaderboardsScript } from '@guildhall/contract'
import { byScript, falseWhenNotFound, type ScriptPart } from '../../kernel/play/script.ts'
import type { Leaderboards } from './leaderboards.service.ts'

const { create, delete: end } = leaderboardsApi

/** Boards for the game's script, under the same rules as for operators. */
export function leaderboardFunctions(boards: Leaderboards): ScriptPart<typeof leaderboardsScript> {
  return {
    'leaderboards.list': async () => (await boards.list()).items,
    'leaderboards.create': (caller, { board }) =>
      boards.create(byScript(caller, create.audit), board),
    'leaderboards.delete': (caller, { board }) =>
      falseWhenNotFound(boards.delete(byScript(caller, end.audit), board)),
    'leaderboards.submit': (caller, { board, user_id, score, options }) =>
      boards.submit(byScript(caller), board, { user_id, score, ...options }),
    'leaderboards.get': async (_caller, { board, user_id }) =>
      (await boards.rankOf(board, user_id)) ?? null,
    'leaderboards.records': (_caller, { board, options }) => boards.records(board, options),
    'leaderboards.remove': (caller, { board, user_id }) =>
      boards.discard(byScript(caller), board, user_id),
    'leaderboards.around': (_caller, { board, user_id, before, after }) =>
      boards.around(board, user_id, { before, after }),
    'leaderboards.of_users': (_caller, { board, user_ids }) => boards.ofUsers(board, user_ids),
  }
}
