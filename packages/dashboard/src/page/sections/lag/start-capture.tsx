import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { kindsOf } from '../../../model/lag.ts'
import { counted } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { accountField } from '../../kit/form/account-field.ts'
import {
  base,
  type FieldKind,
  integerField,
  optionalText,
  selectField,
  shownWhen,
  type Words,
} from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { callLag, type Start } from './lag-calls.ts'

/** Whom to record: given where the dialog was opened, else it is asked for. */
export type Whom = { user_ids: [string]; name: string } | { room_id: number; name: string }

const directions = ['to the player', 'from the player', 'both'] as const
const whoms = ['the players of a room', 'one account'] as const

function optionalRate(words: Words): FieldKind<number | undefined> {
  const { read, ...field } = integerField({ ...words, min: 1, max: 1000 })
  return { ...field, read: (text) => (text.trim() === '' ? { value: undefined } : read(text)) }
}

function kindsField(words: Words): FieldKind<number[]> {
  return {
    ...base(words),
    control: 'line',
    read(text) {
      const value = kindsOf(text)
      if (value === undefined) return { complaint: 'Numbers of 0 to 65535, with commas between.' }
      return value.length > 8 ? { complaint: 'At most eight kinds.' } : { value }
    },
  }
}

const about = {
  kinds: kindsField({
    label: 'Kinds of messages',
    initial: '2',
    hint: 'Their numbers, with commas: 2 is the positions of others, the game has those from 100.',
  }),
  direction: selectField({ label: 'Direction', choices: directions }),
  seconds: integerField({ label: 'Seconds', initial: '60', min: 1, max: 1800 }),
  rate: optionalRate({
    label: 'Sends per second',
    hint: 'How often the game sends such a message, for the distance to an even beat. Or nothing.',
  }),
}

function fieldsOf(whom: Whom | undefined) {
  const label = optionalText({
    label: 'Label',
    initial: whom !== undefined && 'room_id' in whom ? whom.name : '',
    hint: 'By which the capture is found again. It stays with the reports: give no player a name.',
  })
  if (whom !== undefined) return { ...about, label }
  return {
    whom: selectField({ label: 'Record', choices: whoms }),
    room: shownWhen('whom', whoms[0], integerField({ label: 'Room', min: 1 })),
    account: shownWhen('whom', whoms[1], accountField({ label: 'Account' })),
    ...about,
    label,
  }
}

type Typed = {
  room?: number | undefined
  account?: { id: string; username: string } | undefined
  kinds: number[]
  direction: (typeof directions)[number]
  seconds: number
  rate: number | undefined
  label: string | undefined
}

function startOf(typed: Typed, whom: Whom | undefined): Start {
  const { kinds, direction, seconds, rate, label } = typed
  const ways = ['inbound', 'outbound'] as const
  const chosen = ways.filter((_, way) => direction === 'both' || directions[way] === direction)
  return {
    ...whomOf(typed, whom),
    filters: kinds.flatMap((kind) => chosen.map((way) => ({ kind, direction: way }))),
    duration_ms: seconds * 1000,
    ...(rate !== undefined && { send_rate_hz: rate }),
    ...(label !== undefined && { label }),
  }
}

function whomOf(typed: Typed, whom: Whom | undefined) {
  if (whom !== undefined) {
    return 'room_id' in whom ? { room_id: whom.room_id } : { user_ids: whom.user_ids }
  }
  return typed.account === undefined
    ? { room_id: typed.room ?? 0 }
    : { user_ids: [typed.account.id] }
}

/** Asks for a capture of some seconds, and leads to it. */
export function StartCapture({ whom, onClose }: { whom?: Whom; onClose(): void }) {
  const navigate = useNavigate()
  const fields = useMemo(() => fieldsOf(whom), [whom])
  const change = useChange({
    send: (client, payload: Start, idempotencyKey) =>
      callLag(client, 'lag.start', { payload, idempotencyKey }),
    touches: ['lag'],
    done: ({ started, skipped }) => {
      const left = skipped.length === 0 ? '' : `; ${counted(skipped.length, 'other')} cannot record`
      return `Asked ${counted(started.length, 'player')} to record${left}`
    },
  })
  return (
    <FormDialog
      title={whom === undefined ? 'Start a capture' : `Start a capture: ${whom.name}`}
      action="Start"
      fields={fields}
      submit={async (typed) => {
        const { capture_id } = await change.mutateAsync(startOf(typed as Typed, whom))
        void navigate({ to: '/lag/$id', params: { id: capture_id } })
      }}
      onClose={onClose}
    >
      <p className="muted">
        Players who agree to it record when these messages arrive, never what they say. Guests are
        left out. When the seconds are over, their devices wait for <b>End and upload</b> on the
        page of the capture: without it, nothing is uploaded and nothing is kept.
      </p>
    </FormDialog>
  )
}

/** Beside an account or a room. */
export function StartCaptureButton({ whom }: { whom: Whom }) {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        Start capture
      </button>
      {isAsked && <StartCapture whom={whom} onClose={() => setAsked(false)} />}
    </>
  )
}
