import type { JsonObject } from '@guildhall/contract'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { int64Field, jsonField, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'

const fields = {
  user_id: textField({ label: 'User id', hint: 'It need not be an account' }),
  score: int64Field({ label: 'Score' }),
  subscore: int64Field({ label: 'Subscore', initial: '0', hint: 'Decides between equal scores' }),
  metadata: jsonField({ label: 'Metadata' }),
}

type Submission = { user_id: string; score: bigint; subscore: bigint; metadata: JsonObject }

export function SubmitScore({ board, onClose }: { board: string; onClose(): void }) {
  const change = useChange({
    send: (desk, body: Submission, idempotencyKey) =>
      desk.leaderboards.submit({ params: { id: board }, body, idempotencyKey }),
    touches: ['leaderboards'],
    done: ({ score }) => `The record has the score ${grouped(score)}`,
  })
  return (
    <FormDialog
      title="Submit a score"
      action="Submit"
      fields={fields}
      submit={(body) => change.mutateAsync(body)}
      onClose={onClose}
    />
  )
}
