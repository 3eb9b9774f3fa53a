import { api, type StorageObject, type StorageRow } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { call } from '../../data/console-client.ts'
import { useQueryPart } from '../../data/location.ts'
import type { Opened } from '../../data/opened.ts'
import { useMay } from '../../data/permissions.ts'
import { usePages, useRead, wholeListing } from '../../data/reads.ts'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import type { Exported } from '../../kit/export/export-run.ts'
import { Page } from '../../kit/page.tsx'
import { ListAndPane, useAdding } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { BulkAction } from '../../kit/table/bulk.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterAccount } from '../../kit/table/filter-account.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { NamedWords, UserLink } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { NewObject } from './new-object.tsx'
import { ObjectPane } from './object-pane.tsx'
import { readers, writers } from './permissions.ts'
import { ownerQuery, type Place } from './place.ts'

export function StoragePage() {
  const [collection] = useQueryPart('collection')
  const [user] = useQueryPart('user')
  const [isImporting, setImporting] = useState(false)
  const mayImport = useMay(api.storage.import)
  const adding = useAdding({
    route: api.storage.put,
    label: 'New object',
    form: (close) => <NewObject collection={collection} onClose={close} />,
  })
  return (
    <Page
      title="Storage"
      head={<Crumbs collection={collection} />}
      actions={
        <>
          {collection !== '' && <ExportButton exported={exportedObjects(collection, user)} />}
          {mayImport && (
            <button type="button" onClick={() => setImporting(true)}>
              Import
            </button>
          )}
          {adding.button}
        </>
      }
    >
      {collection === '' ? <Collections /> : <Collection collection={collection} />}
      {adding.form}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </Page>
  )
}

/** The list has no values; a file has, and can be imported again. */
function exportedObjects(collection: string, user: string): Exported<StorageObject> {
  return {
    file: `storage-${collection}`,
    noun: ['object', 'objects'],
    words: 'All objects that the list shows, in its order, with their values.',
    columns: [
      'collection',
      'user_id',
      'key',
      'version',
      'read_permission',
      'write_permission',
      'value',
    ],
    async read(cursor) {
      const query = {
        limit: 200,
        ...ownerQuery(user),
        ...(cursor ? { cursor: String(cursor) } : {}),
      }
      return call((client) => client.storage.values({ params: { collection }, query }))
    },
  }
}

function Crumbs({ collection }: { collection: string }) {
  const navigate = useNavigate()
  if (collection === '') return 'Storage'
  return (
    <span className="row">
      <button type="button" className="link" onClick={() => void navigate({ to: '/storage' })}>
        Storage
      </button>
      <span className="muted">/</span>
      <Text>{collection}</Text>
    </span>
  )
}

type CollectionRow = { collection: string; objects: number }

const collectionColumns: readonly Column<CollectionRow>[] = [
  {
    key: 'collection',
    head: 'Collection',
    cell: ({ collection }) => <Text>{collection}</Text>,
    sort: (a, b) => a.collection.localeCompare(b.collection),
  },
  {
    key: 'objects',
    head: 'Objects',
    width: 140,
    align: 'number',
    cell: ({ objects }) => grouped(objects),
    sort: (a, b) => a.objects - b.objects,
  },
]

function Collections() {
  const navigate = useNavigate()
  const all = useRead(['storage', 'collections'], (client) => client.storage.collections({}))
  return (
    <DataTable
      label="Collections"
      columns={collectionColumns}
      listing={wholeListing(all, all.data?.collections)}
      rowKey={({ collection }) => collection}
      onOpen={({ collection }) => void navigate({ to: '/storage', search: { collection } })}
      empty={<Empty title="Nothing is stored yet">Scripts and operators store objects.</Empty>}
    />
  )
}

const columns: readonly Column<StorageRow>[] = [
  { key: 'key', head: 'Key', cell: ({ key }) => <NamedWords>{key}</NamedWords> },
  {
    key: 'owner',
    head: 'Owner',
    cell: ({ user_id }) => (user_id === null ? <Badge>system</Badge> : <UserLink id={user_id} />),
  },
  {
    key: 'version',
    head: 'Version',
    width: 176,
    wide: true,
    cell: ({ version }) => <code>{version}</code>,
  },
  {
    key: 'read',
    head: 'Read by',
    width: 100,
    wide: true,
    cell: ({ read_permission }) => readers[read_permission],
  },
  {
    key: 'write',
    head: 'Written by',
    width: 100,
    wide: true,
    cell: ({ write_permission }) => writers[write_permission],
  },
]

function Collection({ collection }: { collection: string }) {
  const [user, setUser] = useQueryPart('user')
  const listing = usePages(['storage', 'list', collection, user], (client, cursor?: string) => {
    const query = { limit: 200, cursor, ...(user === '' ? {} : { user_id: user }) }
    return client.storage.list({ params: { collection }, query })
  })
  const { place, ...opened } = useOpenedPlace(collection)
  return (
    <ListAndPane
      label={`Objects of ${collection}`}
      columns={columns}
      listing={listing}
      rowKey={keyOf}
      opened={opened}
      tools={<FilterAccount label="Owner" value={user} onValue={setUser} isMain={true} />}
      pane={({ close }) => <ObjectPane place={place} onClose={close} />}
      bulk={{
        route: api.storage.delete,
        noun: 'object',
        nameOf,
        show: (row) => <ObjectName row={row} />,
        touches: ['storage'],
        actions: [removalOf(collection)],
      }}
      empty={<Empty title="No objects here" />}
    />
  )
}

/** The address has the object by its key and owner. */
function useOpenedPlace(collection: string): Opened & { place: Place } {
  const [user] = useQueryPart('user')
  const [key] = useQueryPart('key')
  const [owner] = useQueryPart('owner')
  const navigate = useNavigate()
  const go = (place: Partial<Place>) =>
    void navigate({ to: '/storage', search: { collection, user, ...place } })
  return {
    place: { collection, key, owner },
    key: key === '' ? undefined : keyOfPlace(owner, key),
    open: (row) => {
      const [owner, key] = JSON.parse(row) as [string, string]
      go({ owner, key })
    },
    close: () => go({}),
  }
}

const keyOf = ({ user_id, key }: StorageRow) => keyOfPlace(user_id ?? '', key)
const keyOfPlace = (owner: string, key: string) => JSON.stringify([owner, key])
const nameOf = ({ key }: StorageRow) => key

/** Two owners may have objects of one key. */
function ObjectName({ row: { key, user_id } }: { row: StorageRow }) {
  return (
    <span className="row">
      <NamedWords>{key}</NamedWords>
      {user_id === null ? <Badge>system</Badge> : <UserLink id={user_id} />}
    </span>
  )
}

function removalOf(collection: string): BulkAction<StorageRow> {
  return {
    label: 'Delete',
    words: `They are gone from ${collection} for good, whatever version they have.`,
    danger: true,
    run: (client, { key, user_id }, idempotencyKey) => {
      const query = ownerQuery(user_id)
      return client.storage.delete({ params: { collection, key }, query, idempotencyKey })
    },
  }
}
