import type { ConsoleClient } from '@guildhall/client/console'
import type { AccountRow } from '@guildhall/contract'
import { isEmail } from '../../data/accounts.ts'
import { call } from '../../data/console-client.ts'
import { useQueryPart } from '../../data/location.ts'
import { type Listing, nextOffset, usePages } from '../../data/reads.ts'
import { FilterChoice, FilterInput, FilterTime, timeOf } from '../../kit/table/filter.tsx'

/** What accounts are found by, beside a part of their id or username. */
const ways = [
  ...(['username', 'display name', 'e-mail', 'device id', 'custom id'] as const),
  'state and time',
] as const
type Way = (typeof ways)[number]

const names = {
  username: { member: 'username_prefix', label: 'Username begins with' },
  'display name': { member: 'display_name', label: 'Display name begins with' },
  'e-mail': { member: 'email', label: 'E-mail, the whole of it' },
  'device id': { member: 'device_id', label: 'Device id, exactly' },
  'custom id': { member: 'custom_id', label: 'Custom id, exactly' },
} as const

/** As operators say it, and as it is stored. */
const states: Readonly<Record<string, AccountRow['state']>> = {
  active: 'active',
  banned: 'disabled',
  deleted: 'tombstoned',
}

const pageRows = 200

/** The list of accounts as the address asks for it, and the fields that say how. */
export function useFoundAccounts(): { listing: Listing<AccountRow>; isAll: boolean } {
  const [by] = useQueryPart('by')
  const [filter] = useQueryPart('filter')
  const [state] = useQueryPart('state')
  const [from] = useQueryPart('from')
  const [to] = useQueryPart('to')
  const way = ways.find((one) => one === by)
  const sought = way === undefined ? undefined : soughtBy(way, filter, { state, from, to })
  const listing = usePages<AccountRow, number | string>(
    ['accounts', 'list', way ?? '', filter, state, from, to],
    async (client, cursor) => {
      if (sought === undefined) return partsOf(client, way === undefined ? filter : '', cursor)
      // Half an address is nobody's.
      if (way === 'e-mail' && !isEmail(filter)) return { items: [] }
      const after = cursor === undefined ? undefined : String(cursor)
      const query = { ...sought, after, limit: pageRows }
      const { items, next_after } = await client.consoleAccounts.search({ query })
      return { items, next: next_after }
    },
  )
  return { listing, isAll: sought === undefined && (way !== undefined || filter === '') }
}

type Times = { state: string; from: string; to: string }

/** A page of all accounts by id, which is where it goes on, whoever signs up meanwhile. */
export async function pageOfAll(cursor: unknown) {
  const after = typeof cursor === 'string' ? cursor : undefined
  const query = { created_from: 0, after, limit: pageRows }
  const { items, next_after } = await call((client) => client.consoleAccounts.search({ query }))
  return { items, next: next_after }
}

/** Undefined where nothing is asked yet: then all accounts are shown. */
function soughtBy(way: Way, filter: string, { state, from, to }: Times) {
  if (way !== 'state and time') {
    const text = filter.trim()
    return text === '' ? undefined : { [names[way].member]: text }
  }
  const stored = states[state]
  const [created_from, created_to] = [timeOf(from), timeOf(to)]
  const sought = {
    ...(stored === undefined ? {} : { state: stored }),
    ...(created_from === undefined ? {} : { created_from }),
    ...(created_to === undefined ? {} : { created_to }),
  }
  return Object.keys(sought).length === 0 ? undefined : sought
}

async function partsOf(client: ConsoleClient, filter: string, cursor: number | string | undefined) {
  const offset = typeof cursor === 'number' ? cursor : 0
  const page = await client.consoleAccounts.list({ query: { filter, limit: pageRows, offset } })
  return { ...page, next: nextOffset(offset, page) }
}

export function AccountFinding() {
  const [by, setBy] = useQueryPart('by')
  const [filter, setFilter] = useQueryPart('filter')
  const [state, setState] = useQueryPart('state')
  const [from, setFrom] = useQueryPart('from')
  const [to, setTo] = useQueryPart('to')
  const way = ways.find((one) => one === by)
  return (
    <div className="page-tools">
      <FilterChoice
        label="Find by"
        value={way ?? ''}
        choices={ways}
        all="part of id or username"
        onValue={setBy}
      />
      {way === 'state and time' ? (
        <>
          <FilterChoice
            label="State"
            value={state}
            choices={Object.keys(states)}
            onValue={setState}
          />
          <FilterTime label="Created from" value={from} onValue={setFrom} />
          <FilterTime label="to" value={to} onValue={setTo} />
        </>
      ) : (
        <FilterInput
          label={way === undefined ? 'Part of an id or username' : names[way].label}
          value={filter}
          onValue={setFilter}
          isMain={true}
        />
      )}
    </div>
  )
}
