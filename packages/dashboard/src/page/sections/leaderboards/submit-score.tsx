import type { JsonObject } from '@guildhall/contract'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { askForStranger, userField } from '../../kit/form/account-field.ts'
import { int64Field, jsonField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'

const fields = {
  user: userField({ label: 'User', hint: 'Mostly an account; a board takes any id' }),
  score: int64Field({ label: 'Score' }),
  subscore: int64Field({ label: 'Subscore', initial: '0', hint: 'Decides between equal scores' }),
  metadata: jsonField({ label: 'Metadata' }),
}

type Submission = { user_id: string; score: bigint; subscore: bigint; metadata: JsonObject }

export function SubmitScore({ board, onClose }: { board: string; onClose(): void }) {
  const change = useChange({
    send: (client, body: Submission, idempotencyKey) =>
      client.leaderboards.submit({ params: { id: board }, body, idempotencyKey }),
    touches: ['leaderboards'],
    done: ({ score }) => `The record has the score ${grouped(score)}`,
  })
  return (
    <FormDialog
      title={`Submit a score to ${board}`}
      action="Submit"
      fields={fields}
      submit={({ user, ...score }) => change.mutateAsync({ ...score, user_id: user.id })}
      ask={({ user }) => askForStranger(user, 'Submit anyway')}
      onClose={onClose}
    />
  )
}
