import type { AccountRow } from '@guildhall/contract'
import { findAccounts } from '../../data/accounts.ts'
import { base, type FieldKind, type Reading, type Words } from './field-kinds.ts'
import type { Question } from './question.ts'

/** The account of what was typed. What is none is refused before anything is sent. */
export function accountField(words: Words): FieldKind<AccountRow> {
  return {
    ...base(words),
    control: 'account',
    read: async (text) => {
      if (text.trim() === '') return { complaint: 'This is needed.' }
      const [account, another] = await findAccounts(text.trim())
      if (account === undefined) return { complaint: noAccount }
      return another === undefined ? { value: account } : { complaint: twoAccounts }
    },
  }
}

/** As `accountField`; nothing typed is no account. */
export function optionalAccount(words: Words): FieldKind<AccountRow | undefined> {
  const { read, ...field } = accountField(words)
  return { ...field, read: (text) => (text.trim() === '' ? { value: undefined } : read(text)) }
}

/** A user of a board or an object: an account, or any id that the game uses instead. */
export type User = { id: string; account: AccountRow | undefined }

export function userField(words: Words): FieldKind<User> {
  return {
    ...base(words),
    control: 'account',
    read: async (text): Promise<Reading<User>> => {
      if (text === '') return { complaint: 'This is needed.' }
      const [account, another] = await findAccounts(text.trim())
      if (another !== undefined) return { complaint: twoAccounts }
      return { value: { id: account?.id ?? text, account } }
    },
  }
}

/** As `userField`; nothing typed is no user. */
export function optionalUser(words: Words): FieldKind<User | undefined> {
  const { read, ...field } = userField(words)
  return { ...field, read: (text) => (text === '' ? { value: undefined } : read(text)) }
}

const noAccount = 'No account has this id, username or e-mail.'
const twoAccounts = 'This is the username of one account and the e-mail of another: type an id.'

/** Asked before something is stored for a user who is no account: mostly that is a slip. */
export function askForStranger(user: User | undefined, action: string): Question | undefined {
  if (user === undefined || user.account !== undefined) return undefined
  return { words: `${noAccount} It would be of “${user.id}”.`, action }
}

/** Asked before something goes out as a player: a name that was meant for nobody may be theirs. */
export function askForPlayer({ account }: User): Question | undefined {
  if (account === undefined) return undefined
  const words = `Players see it as written by the player ${account.username} (${account.id}).`
  return { words, action: `Send as ${account.username}` }
}
