import { api, type StorageRow } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { useMay } from '../../data/permissions.ts'
import { usePages, useRead, wholeListing } from '../../data/reads.ts'
import { NewButton, Page, Split } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import { BulkBar } from '../../kit/table/bulk.tsx'
import { FilterInput } from '../../kit/table/filter.tsx'
import { type Column, DataTable } from '../../kit/table/table.tsx'
import { usePicking } from '../../kit/table/use-picking.ts'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { Text } from '../../kit/text/text.tsx'
import { NewObject } from './new-object.tsx'
import { ObjectPane } from './object-pane.tsx'
import { readers, writers } from './permissions.ts'

/** Where an object stands: the system's have an empty owner. */
export type Place = { collection: string; key: string; owner: string }

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
  const all = useRead(['storage', 'collections'], (desk) => desk.storage.collections({}))
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
    cell: ({ user_id }) =>
      user_id === null ? <Badge>system</Badge> : <Copyable what="owner">{user_id}</Copyable>,
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
  const picking = usePicking()
  const listing = usePages(['storage', 'list', collection, user], (desk, cursor?: string) => {
    const query = { limit: 200, cursor, ...(user === '' ? {} : { user_id: user }) }
    return desk.storage.list({ params: { collection }, query })
  })
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
        rowKey={rowKeyOf}
        openKey={key === '' ? undefined : JSON.stringify([owner, key])}
        onOpen={(row) => go({ key: row.key, owner: row.user_id ?? '' })}
        picking={mayDelete ? picking : undefined}
        empty={<Empty title="No objects here" />}
      />
      {mayDelete && (
        <BulkBar picking={picking} touches={['storage']} actions={[removalOf(collection)]} />
      )}
    </>
  )
  const place = { collection, key, owner }
  const pane = key && (
    <ObjectPane key={JSON.stringify(place)} place={place} onClose={() => go({})} />
  )
  return <Split list={list} pane={pane} />
}

function rowKeyOf({ user_id, key }: StorageRow): string {
  return JSON.stringify([user_id ?? '', key])
}

function removalOf(collection: string) {
  return {
    label: 'Delete',
    words: 'The objects are gone for good, whatever version they have.',
    danger: true,
    run: (desk: DeskOfStorage, id: string, idempotencyKey: string) => {
      const [owner, key]: string[] = JSON.parse(id)
      const query = owner === '' ? {} : { user_id: owner }
      return desk.storage.delete({ params: { collection, key: key ?? '' }, query, idempotencyKey })
    },
  }
}

type DeskOfStorage = Parameters<Parameters<typeof useRead>[1]>[0]
