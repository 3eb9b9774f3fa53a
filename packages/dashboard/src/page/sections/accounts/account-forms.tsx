import type { AccountDetail, JsonObject } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useChange } from '../../data/changes.ts'
import { anyText, jsonField, optionalText, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'

const newAccount = {
  username: textField({ label: 'Username', hint: '1 to 128 bytes, kept as typed' }),
  display_name: optionalText({ label: 'Display name' }),
  metadata: jsonField({ label: 'Metadata' }),
}

export function CreateAccount({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const change = useChange({
    send: (client, body: { username: string }, idempotencyKey) =>
      client.consoleAccounts.create({ body, idempotencyKey }),
    touches: ['accounts'],
    done: ({ username }) => `Created ${username}`,
  })
  return (
    <FormDialog
      title="Create an account"
      action="Create"
      fields={newAccount}
      submit={async (body) => {
        const { id } = await change.mutateAsync(body)
        void navigate({ to: '/accounts/$id', params: { id } })
      }}
      onClose={onClose}
    >
      <p className="muted">It has no credential: nobody can sign in to it.</p>
    </FormDialog>
  )
}

type Change = { username?: string; display_name?: string; metadata?: JsonObject }

export function EditAccount({ account, onClose }: { account: AccountDetail; onClose(): void }) {
  const { id, username, display_name, metadata } = account
  const fields = useMemo(
    () => ({
      username: textField({ label: 'Username', initial: username }),
      display_name: anyText({
        label: 'Display name',
        initial: display_name ?? '',
        hint: 'Empty: there is none',
      }),
      metadata: jsonField({ label: 'Metadata', value: metadata ?? {} }),
    }),
    [username, display_name, metadata],
  )
  const change = useChange({
    send: (client, body: Change, idempotencyKey) =>
      client.consoleAccounts.update({ params: { id }, body, idempotencyKey }),
    touches: ['accounts'],
    done: 'Saved',
  })
  return (
    <FormDialog
      title={`Edit ${username}`}
      action="Save"
      fields={fields}
      submit={(_, changed) => change.mutateAsync(changed)}
      onClose={onClose}
    />
  )
}
