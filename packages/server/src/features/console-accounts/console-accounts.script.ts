import { type accountsScript, consoleAccountsApi, type ScriptAccount } from '@guildhall/contract'
import { byScript, type ScriptPart } from '../../kernel/play/script.ts'
import type { AccountWithMetadata, ConsoleAccounts } from './console-accounts.service.ts'

/** Accounts for the game's script: nothing that anybody signs in with. */
export function accountFunctions(accounts: ConsoleAccounts): ScriptPart<typeof accountsScript> {
  const { ban, unban } = consoleAccountsApi
  /** As it is once a change is done. */
  async function now(id: string): Promise<ScriptAccount> {
    const row = await accounts.find(id)
    if (row === undefined) throw new Error('an account that was changed is gone')
    return shown(row)
  }
  return {
    'accounts.get': async (_caller, { user_id }) => {
      const row = await accounts.find(user_id)
      return row === undefined ? null : shown(row)
    },
    'accounts.lookup': async (_caller, { keys }) => (await accounts.lookup(keys)).map(shown),
    'accounts.update': async (caller, { user_id, patch }) => {
      const { display_name, metadata } = patch
      // As on the console an empty one is none.
      const change = { username: undefined, display_name: display_name ?? undefined, metadata }
      if (display_name === null) change.display_name = ''
      await accounts.update(byScript(caller), user_id, change)
      return now(user_id)
    },
    'accounts.ban': async (caller, { user_id }) => {
      await accounts.ban(byScript(caller, ban.audit), user_id)
      return now(user_id)
    },
    'accounts.unban': async (caller, { user_id }) => {
      await accounts.unban(byScript(caller, unban.audit), user_id)
      return now(user_id)
    },
  }
}

function shown({ id: user_id, ...row }: AccountWithMetadata): ScriptAccount {
  const { username, display_name, state, metadata, created_at_unix_ms, updated_at_unix_ms } = row
  return {
    user_id,
    username,
    display_name,
    state,
    metadata,
    created_at_unix_ms,
    updated_at_unix_ms,
  }
}
