import { api, type StorageObject } from '@guildhall/contract'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { downloadJson } from '../../kit/download.ts'
import { Facts, Pane } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { NamedText, UserLink } from '../../kit/text/links.tsx'
import { ObjectEditor } from './object-editor.tsx'
import { readers, writers } from './permissions.ts'
import { ownerQuery, type Place } from './place.ts'

export function ObjectPane({ place, onClose }: { place: Place; onClose(): void }) {
  const { collection, key, owner } = place
  const input = { params: { collection, key }, query: ownerQuery(owner) }
  const stored = useRead(['storage', 'one', place], (client) => client.storage.get(input))
  const [isEditing, setEditing] = useState(false)
  const { data } = stored
  return (
    <Pane
      title={<NamedText>{key}</NamedText>}
      label="Object"
      onClose={onClose}
      actions={
        data &&
        !isEditing && (
          <ObjectActions object={data} onEdit={() => setEditing(true)} onDeleted={onClose} />
        )
      }
    >
      <Await query={stored}>
        {(object) =>
          isEditing ? (
            <ObjectEditor object={object} onDone={() => setEditing(false)} />
          ) : (
            <ObjectView object={object} />
          )
        }
      </Await>
    </Pane>
  )
}

function ObjectView({ object }: { object: StorageObject }) {
  const { user_id, version, read_permission, write_permission, value } = object
  return (
    <>
      <Facts
        rows={{
          Owner: user_id === null ? <Badge>system</Badge> : <UserLink id={user_id} />,
          Version: <Copyable what="version">{version}</Copyable>,
          'Read by': readers[read_permission],
          'Written by': writers[write_permission],
        }}
      />
      <JsonView value={value} label="Value" />
    </>
  )
}

type ActionsProps = { object: StorageObject; onEdit(): void; onDeleted(): void }

function ObjectActions({ object, onEdit, onDeleted }: ActionsProps) {
  const [asked, setAsked] = useState(false)
  const mayWrite = useMay(api.storage.put)
  const { collection, key, user_id, version } = object
  const remove = useChange({
    send: (client, version: string, idempotencyKey) =>
      client.storage.delete({
        params: { collection, key },
        query: { ...ownerQuery(user_id), version },
        idempotencyKey,
      }),
    touches: ['storage', 'accounts'],
    done: `Deleted ${key}`,
  })
  return (
    <>
      <button type="button" onClick={() => downloadJson('object.json', object.value)}>
        Download
      </button>
      {mayWrite && (
        <>
          <button type="button" onClick={onEdit}>
            Edit
          </button>
          <button type="button" className="danger" onClick={() => setAsked(true)}>
            Delete object
          </button>
        </>
      )}
      {asked && (
        <Confirm
          title={`Delete ${key} of ${collection}`}
          action="Delete"
          danger={true}
          typed={key}
          run={async () => {
            await remove.mutateAsync(version)
            onDeleted()
          }}
          onClose={() => setAsked(false)}
        >
          It is gone for good, unless somebody changes it before you confirm.
        </Confirm>
      )}
    </>
  )
}
