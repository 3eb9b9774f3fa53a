import type { JsonObject } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useChange } from '../../data/changes.ts'
import { askForStranger, optionalUser, type User } from '../../kit/form/account-field.ts'
import { jsonField, selectField, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { readers, writers } from './permissions.ts'
import { ownerQuery } from './place.ts'

type Values = {
  collection: string
  key: string
  owner: User | undefined
  value: JsonObject
  read: string
  write: string
}

export function NewObject({ collection, onClose }: { collection: string; onClose(): void }) {
  const navigate = useNavigate()
  const fields = useMemo(
    () => ({
      collection: textField({ label: 'Collection', initial: collection }),
      key: textField({ label: 'Key' }),
      owner: optionalUser({ label: 'Owner', hint: 'Nothing: it is the system’s' }),
      value: jsonField({ label: 'Value', hint: 'At most 512 KiB' }),
      read: selectField({ label: 'Read by', choices: readers, initial: readers[1] ?? '' }),
      write: selectField({ label: 'Written by', choices: writers, initial: writers[1] ?? '' }),
    }),
    [collection],
  )
  const change = useChange({
    send: (client, values: Values, idempotencyKey) => {
      const { collection, key, owner, value, read, write } = values
      const body = {
        value,
        // Only where there is nothing yet: a form for new things overwrites none.
        version: '',
        read_permission: readers.indexOf(read),
        write_permission: writers.indexOf(write),
      }
      const query = ownerQuery(owner?.id ?? null)
      return client.storage.put({ params: { collection, key }, query, body, idempotencyKey })
    },
    touches: ['storage'],
    done: ({ key }) => `Created ${key}`,
  })
  return (
    <FormDialog
      title="Create an object"
      action="Create"
      fields={fields}
      submit={async (values) => {
        const { collection, key, user_id } = await change.mutateAsync(values)
        void navigate({ to: '/storage', search: { collection, key, owner: user_id ?? '' } })
      }}
      ask={({ owner }) => askForStranger(owner, 'Create anyway')}
      onClose={onClose}
    />
  )
}
