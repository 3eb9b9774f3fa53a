import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { serverNow } from '../../data/node-status.ts'
import { textField, timeField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'

const hourMs = 3_600_000

/** A schedule to begin with: open now, closed in a day, then played for two days. */
function fieldsAt(nowMs: number) {
  const zone = `In the time of this place (${Intl.DateTimeFormat().resolvedOptions().timeZone})`
  return {
    id: textField({ label: 'Id', hint: '1 to 128 bytes' }),
    leaderboard_id: textField({ label: 'Board', hint: 'It need not exist yet' }),
    registration_opens_at_unix_ms: timeField({
      label: 'Registration opens',
      hint: zone,
      at: nowMs,
    }),
    registration_closes_at_unix_ms: timeField({
      label: 'Registration closes',
      at: nowMs + 24 * hourMs,
    }),
    starts_at_unix_ms: timeField({ label: 'Starts', at: nowMs + 24 * hourMs }),
    ends_at_unix_ms: timeField({ label: 'Ends', at: nowMs + 72 * hourMs }),
  }
}

type Draft = {
  id: string
  leaderboard_id: string
  registration_opens_at_unix_ms: number
  registration_closes_at_unix_ms: number
  starts_at_unix_ms: number
  ends_at_unix_ms: number
}

export function DraftTournament({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [fields] = useState(() => fieldsAt(Math.ceil(serverNow() / hourMs) * hourMs))
  const change = useChange({
    send: (client, body: Draft, idempotencyKey) =>
      client.tournaments.create({ body, idempotencyKey }),
    touches: ['tournaments'],
    done: ({ id }) => `Drafted ${id}`,
  })
  return (
    <FormDialog
      title="New tournament"
      action="Create"
      fields={fields}
      submit={async (body) => {
        const { id } = await change.mutateAsync(body)
        void navigate({ to: '/tournaments/$id', params: { id } })
      }}
      onClose={onClose}
    />
  )
}
