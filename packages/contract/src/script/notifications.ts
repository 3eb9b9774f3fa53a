import { z } from 'zod'
import { NewNotification, Notification } from '../shapes/notifications.ts'
import { optional, presentReference, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { pushedAccountsMax } from './chat.ts'
import {
  keptObject,
  options,
  pageBefore,
  pageLimit,
  participantId,
  raw,
  rowId,
  strictLimit,
} from './fields.ts'
import { defineScriptApi } from './script-api.ts'

/** A notification as scripts see it. */
export const ScriptNotification = once(() =>
  z.strictObject({
    ...Notification().shape,
    read_at_unix_ms: unixMs.nullable(),
  }),
)

/** The members of one notification to be stored, for transact too. */
export const newNotification = once(() => {
  const { user_id, subject, code } = NewNotification().shape
  return {
    user_id,
    subject,
    content: keptObject.optional(),
    code,
    push: optional(z.boolean()).meta({ description: 'Whether to push it after the commit' }),
  }
})

const trusted = { tier: 'trusted', runs: 'node' } as const
/** For answers that are handed on. */
const handedOn = { raw: true, ...trusted } as const

export const notificationsScript = defineScriptApi({
  'notifications.send': {
    doc: 'Stores a notification for one user or, without user_id, for everybody.',
    args: () => ({ notification: z.strictObject(newNotification()) }),
    ok: ScriptNotification,
    ...trusted,
  },
  'notifications.list': {
    doc: "A user's notifications and the broadcasts, newest first.",
    args: () => ({
      user_id: presentReference(),
      options: options({ limit: pageLimit({ default: 50, cap: 200 }), before: pageBefore, raw }),
    }),
    ok: () => z.array(ScriptNotification()),
    ...handedOn,
  },
  'notifications.mark_read': {
    doc: 'True for a row addressed to the user, whose time of reading stays; else false.',
    args: () => ({ user_id: presentReference(), id: rowId }),
    ok: () => z.boolean(),
    ...trusted,
  },
  'notifications.remove': {
    doc: 'Removes a notification; false if there is none.',
    args: () => ({ id: rowId }),
    ok: () => z.boolean(),
    ...trusted,
  },
  'notifications.push': {
    doc: "Sends a notification (kind 27) to accounts, else to the row's user, else to all.",
    args: () => ({
      notification: ScriptNotification(),
      user_ids: z.array(presentReference()).max(pushedAccountsMax).optional(),
    }),
    errors: ['limit_exceeded'],
    tier: 'trusted',
    runs: 'command',
  },
  'notifications.push_unread': {
    doc: 'Sends the newest unread rows to a participant, oldest first, and returns how many.',
    args: () => ({
      participant: participantId,
      options: options({ limit: strictLimit({ default: 100, cap: 100 }) }),
    }),
    ok: () => z.int(),
    ...trusted,
  },
})
