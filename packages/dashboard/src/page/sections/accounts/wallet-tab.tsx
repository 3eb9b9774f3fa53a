import type { ConsoleClient } from '@guildhall/client/console'
import { type AccountDetail, api } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { call } from '../../data/console-client.ts'
import { useNodeStatus } from '../../data/node-status.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import type { Exported } from '../../kit/export/export-run.ts'
import { int64Field, optionalText, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Card } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { writeFilters } from '../database/filters.tsx'

/** A wallet comes with so many entries of its ledger. */
const shownMax = 100

type Entry = Awaited<ReturnType<ConsoleClient['wallet']['get']>>['ledger'][number]

const columns: readonly Column<Entry>[] = [
  { key: 'time', head: 'When', width: 110, cell: ({ time_unix_ms }) => <Time at={time_unix_ms} /> },
  { key: 'currency', head: 'Currency', width: 100, cell: (it) => <Text>{it.currency}</Text> },
  { key: 'delta', head: 'Change', align: 'number', cell: ({ delta }) => signed(delta) },
  {
    key: 'after',
    medium: true,
    head: 'Balance',
    align: 'number',
    cell: (it) => grouped(it.balance_after),
  },
  {
    key: 'reason',
    medium: true,
    head: 'Reason',
    cell: ({ reason }) => <NamedText>{reason}</NamedText>,
  },
  { key: 'seq', head: 'Seq', width: 90, align: 'number', wide: true, cell: ({ seq }) => seq },
]

export function WalletTab({ account }: { account: AccountDetail }) {
  const { id } = account
  const wallet = useRead(['wallet', id], (client) => client.wallet.get({ params: { id } }))
  const mayAdjust = useMay(api.wallet.adjust)
  const [adjusting, setAdjusting] = useState(false)
  return (
    <Await query={wallet}>
      {({ balances, ledger }) => (
        <div className="stack">
          <Card
            title="Balances"
            extra={
              mayAdjust && (
                <button type="button" className="tiny" onClick={() => setAdjusting(true)}>
                  Adjust
                </button>
              )
            }
          >
            <Balances balances={Object.entries(balances)} />
          </Card>
          <Card title="Ledger" extra={<LedgerExtra id={id} count={ledger.length} />}>
            <DataTable
              label="Ledger"
              columns={columns}
              listing={wholeListing(wallet, ledger)}
              rowKey={({ seq }) => String(seq)}
              empty={<None>Nothing was ever booked.</None>}
              inline={true}
            />
          </Card>
          {adjusting && <AdjustWallet account={account} onClose={() => setAdjusting(false)} />}
        </div>
      )}
    </Await>
  )
}

/** The wallet has the newest entries; all of them are read from the store, where there is one. */
function LedgerExtra({ id, count }: { id: string; count: number }) {
  const backend = useNodeStatus().data?.status.backend
  if (count === 0) return null
  const filters = writeFilters([{ column: 'user_id', operator: 'eq', value: id }])
  const search = { table: 'wallet_ledger', filters, sort: 'seq', direction: 'desc' }
  const isCut = count >= shownMax
  return (
    <span className="row small">
      {isCut && <span className="muted">the newest {shownMax}</span>}
      {isCut && backend !== undefined && backend !== 'in-memory' && (
        <Link to="/database" search={search}>
          all
        </Link>
      )}
      <ExportButton exported={exportedLedger(id)} isTiny={true} />
    </span>
  )
}

function exportedLedger(id: string): Exported<Entry> {
  return {
    file: `ledger-${id}`,
    noun: ['booking', 'bookings'],
    words: 'All bookings of the account that are kept, from the newest to the oldest.',
    columns: ['seq', 'time_unix_ms', 'user_id', 'currency', 'delta', 'balance_after', 'reason'],
    async read(cursor) {
      const query = { limit: 200, ...(typeof cursor === 'number' ? { before: cursor } : {}) }
      const page = await call((client) => client.wallet.ledger({ params: { id }, query }))
      return { items: page.items, next: page.next_before }
    },
  }
}

function Balances({ balances }: { balances: readonly [string, number | bigint][] }) {
  if (balances.length === 0) return <None>No currency yet.</None>
  return (
    <dl className="facts">
      {balances.map(([currency, balance]) => (
        <div key={currency} style={{ display: 'contents' }}>
          <dt>
            <Text>{currency}</Text>
          </dt>
          <dd className="mono">{grouped(balance)}</dd>
        </div>
      ))}
    </dl>
  )
}

function signed(delta: number | bigint): string {
  return delta > 0 ? `+${grouped(delta)}` : grouped(delta)
}

const adjustment = {
  currency: textField({ label: 'Currency', hint: '1 to 64 bytes; a new one begins at 0' }),
  delta: int64Field({ label: 'Change', hint: 'Signed; a balance never falls below 0' }),
  reason: optionalText({ label: 'Reason', hint: 'Stands in the ledger' }),
}

type AdjustProps = { account: AccountDetail; onClose(): void }

function AdjustWallet({ account: { id, username }, onClose }: AdjustProps) {
  const change = useChange({
    send: (client, body: { currency: string; delta: bigint }, idempotencyKey) =>
      client.wallet.adjust({ params: { id }, body, idempotencyKey }),
    touches: ['wallet'],
    done: (_, { currency, delta }) => `Booked ${signed(delta)} ${currency}`,
  })
  return (
    <FormDialog
      title={`Adjust the wallet of ${username}`}
      action="Book"
      fields={adjustment}
      submit={(body) => change.mutateAsync(body)}
      onClose={onClose}
    />
  )
}
