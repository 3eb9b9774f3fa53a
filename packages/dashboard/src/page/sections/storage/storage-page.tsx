import { api, type StorageRow } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { useMay } from '../../data/permissions.ts'
import { usePages, useRead, wholeListing } from '../../data/reads.ts'
import { NewButton, Page, Split } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import { type BulkAction, BulkBar } from '../../kit/table/bulk.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { usePicking } from '../../kit/table/picking.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { NewObject } from './new-object.tsx'
import { ObjectPane } from './object-pane.tsx'
import { readers, writers } from './permissions.ts'
import { ownerQuery, type Place } from './place.ts'

export function StoragePage() {
  const [collection] = useQueryPart('collection')
  const [isNew, setNew] = useQueryPart('new')
  const mayWrite = useMay(api.storage.put)
  return (
    <Page
      title="Storage"
      head={<Crumbs collection={collection} />}
      actions={mayWrite && <NewButton onNew={() => setNew('yes')}>New object</NewButton>}
    >
      {collection === '' ? <Collections /> : <Collection collection={collection} />}
      {isNew && mayWrite && <NewObject collection={collection} onClose={() => setNew('')} />}
    </Page>
  )
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
  { key: 'key', head: 'Key', cell: ({ key }) => <Text>{key}</Text> },
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
  const [key] = useQueryPart('key')
  const [owner] = useQueryPart('owner')
  const navigate = useNavigate()
  const mayDelete = useMay(api.storage.delete)
  const listing = usePages(['storage', 'list', collection, user], (client, cursor?: string) => {
    const query = { limit: 200, cursor, ...(user === '' ? {} : { user_id: user }) }
    return client.storage.list({ params: { collection }, query })
  })
  const picking = usePicking({ listing, keyOf, nameOf })
  const go = (place: Partial<Place>) =>
    void navigate({ to: '/storage', search: { collection, user, ...place } })
  const list = (
    <>
      <div className="page-tools">
        <FilterInput label="Owner, exactly" value={user} onValue={setUser} isMain={true} />
      </div>
      <DataTable
        label={`Objects of ${collection}`}
        columns={columns}
        listing={listing}
        rowKey={keyOf}
        openKey={key === '' ? undefined : JSON.stringify([owner, key])}
        onOpen={(row) => go({ key: row.key, owner: row.user_id ?? '' })}
        picking={mayDelete ? picking : undefined}
        empty={<Empty title="No objects here" />}
      />
      {mayDelete && (
        <BulkBar
          picking={picking}
          noun="object"
          show={(row) => <ObjectName row={row} />}
          touches={['storage']}
          actions={[removalOf(collection)]}
        />
      )}
    </>
  )
  const place = { collection, key, owner }
  const pane = key && (
    <ObjectPane key={JSON.stringify(place)} place={place} onClose={() => go({})} />
  )
  return <Split list={list} pane={pane} />
}

const keyOf = ({ user_id, key }: StorageRow) => JSON.stringify([user_id ?? '', key])
const nameOf = ({ key }: StorageRow) => key

/** Two owners may have objects of one key. */
function ObjectName({ row: { key, user_id } }: { row: StorageRow }) {
  return (
    <span className="row">
      <Text>{key}</Text>
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
