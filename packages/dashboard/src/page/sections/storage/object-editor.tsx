import { GuildhallError } from '@guildhall/client/console'
import type { JsonObject, StorageObject } from '@guildhall/contract'
import { useId, useState } from 'react'
import { jsonPages } from '../../../model/json.ts'
import { useChange } from '../../data/changes.ts'
import { call } from '../../data/console-client.ts'
import { ErrorNote, isMissing } from '../../kit/error-state.tsx'
import { readJsonObject } from '../../kit/form/field-kinds.ts'
import { JsonArea } from '../../kit/form/json-area.tsx'
import { ConflictNote } from './conflict-note.tsx'
import { readers, writers } from './permissions.ts'
import { ownerQuery } from './place.ts'

type Draft = { text: string; read: number; write: number }

/**
 * Changes an object in the place of the version that was read. When somebody else was faster, it
 * shows what they made of it, and lets the operator choose.
 */
export function ObjectEditor({ object, onDone }: { object: StorageObject; onDone(): void }) {
  const [draft, setDraft] = useState<Draft>({
    text: jsonPages(object.value),
    read: object.read_permission,
    write: object.write_permission,
  })
  // The version that this text began from; a later reading of the page does not change it.
  const [base, setBase] = useState(object)
  const [theirs, setTheirs] = useState<StorageObject | null>()
  const [id] = [useId()]
  const save = useSave(object, onDone)
  const read = readJsonObject(draft.text)
  const change = (next: Draft) => {
    setDraft(next)
    save.reset()
  }
  const send = async (version: string) => {
    if (!('value' in read)) return
    try {
      await save.mutateAsync({ value: read.value, draft, version })
    } catch (error) {
      if (error instanceof GuildhallError && error.status === 409) setTheirs(await newest(object))
    }
  }
  if (theirs !== undefined) {
    return (
      <ConflictNote
        theirs={theirs}
        mine={draft.text}
        onOverwrite={() => {
          setTheirs(undefined)
          if (theirs !== null) setBase(theirs)
          void send(theirs?.version ?? '')
        }}
        onBack={() => {
          if (theirs !== null) setBase(theirs)
          setTheirs(undefined)
          save.reset()
        }}
        onDiscard={onDone}
      />
    )
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        void send(base.version)
      }}
    >
      <div className="field">
        <label htmlFor={id}>Value</label>
        <JsonArea
          id={id}
          rows={22}
          value={draft.text}
          onChange={({ target }) => change({ ...draft, text: target.value })}
          onText={(text) => change({ ...draft, text })}
        />
      </div>
      <Permissions draft={draft} onDraft={change} />
      <ErrorNote error={save.error} />
      <div className="row">
        <span className="grow" />
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={!('value' in read) || save.isPending}>
          Save
        </button>
      </div>
    </form>
  )
}

function Permissions({ draft, onDraft }: { draft: Draft; onDraft(draft: Draft): void }) {
  return (
    <div className="row">
      <PermissionChoice
        label="Read by"
        names={readers}
        value={draft.read}
        onValue={(read) => onDraft({ ...draft, read })}
      />
      <PermissionChoice
        label="Written by"
        names={writers}
        value={draft.write}
        onValue={(write) => onDraft({ ...draft, write })}
      />
    </div>
  )
}

type Sent = { value: JsonObject; draft: Draft; version: string }

function useSave({ collection, key, user_id }: StorageObject, onDone: () => void) {
  return useChange({
    send: async (client, { value, draft, version }: Sent, idempotencyKey) => {
      const body = {
        value,
        version,
        read_permission: draft.read,
        write_permission: draft.write,
      }
      const query = ownerQuery(user_id)
      const stored = await client.storage.put({
        params: { collection, key },
        query,
        body,
        idempotencyKey,
      })
      onDone()
      return stored
    },
    touches: ['storage'],
    done: 'Saved',
  })
}

/** What is stored now; null when it is gone. */
async function newest({ collection, key, user_id }: StorageObject): Promise<StorageObject | null> {
  try {
    const query = ownerQuery(user_id)
    return await call((client) => client.storage.get({ params: { collection, key }, query }))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

type ChoiceProps = {
  label: string
  names: readonly string[]
  value: number
  onValue(value: number): void
}

function PermissionChoice({ label, names, value, onValue }: ChoiceProps) {
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onValue(Number(target.value))}>
        {names.map((name, index) => (
          <option key={name} value={index}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
