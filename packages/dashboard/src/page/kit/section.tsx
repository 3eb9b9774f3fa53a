import type { Route } from '@guildhall/contract'
import { Fragment, type ReactNode } from 'react'
import { useQueryPart } from '../data/location.ts'
import type { Opened } from '../data/opened.ts'
import { useMay } from '../data/permissions.ts'
import { NewButton, Page, Split } from './page.tsx'
import { DataTable, type TableProps } from './table/table.tsx'

type PaneOf<Row> = {
  /** The key of the row, as the address has it. */
  key: string
  /** Undefined where the list does not have it (yet). */
  row: Row | undefined
  close(): void
}

type ListProps<Row> = Omit<TableProps<Row>, 'onOpen' | 'openKey'> & {
  /** Above the table: what narrows it. */
  tools?: ReactNode
  opened: Opened
  /** What stands beside the table while a row is open; null for nothing. */
  pane(of: PaneOf<Row>): ReactNode
}

/** A list, and beside it the row that is open. */
export function ListAndPane<Row>({ tools, opened, pane, ...table }: ListProps<Row>) {
  const { key, open, close } = opened
  const { listing, rowKey } = table
  const row = key === undefined ? undefined : listing.rows.find((one) => rowKey(one) === key)
  const beside = key === undefined ? null : pane({ key, row, close })
  return (
    <Split
      list={
        <>
          {tools && <div className="page-tools">{tools}</div>}
          <DataTable {...table} openKey={key} onOpen={(row) => open(rowKey(row))} />
        </>
      }
      pane={beside === null ? undefined : <Fragment key={key}>{beside}</Fragment>}
    />
  )
}

type Add = { route: Route; label: string; form(close: () => void): ReactNode }

type SectionProps<Row> = ListProps<Row> & {
  title: string
  /** What makes a new row, for those who may. */
  add?: Add
  /** Further buttons in the head. */
  actions?: ReactNode
  children?: ReactNode
}

/** A section is its columns, its pane and its actions. */
export function Section<Row>({ title, add, actions, children, ...list }: SectionProps<Row>) {
  const adding = useAdding(add)
  return (
    <Page
      title={title}
      actions={
        <>
          {actions}
          {adding.button}
        </>
      }
    >
      <ListAndPane {...list} />
      {adding.form}
      {children}
    </Page>
  )
}

/** A button and the form that it opens; that it is open stands in the address. */
export function useAdding(add: Add | undefined): { button: ReactNode; form: ReactNode } {
  const [isNew, setNew] = useQueryPart('new')
  const may = useMay(add?.route)
  if (add === undefined || !may) return { button: null, form: null }
  return {
    button: <NewButton onNew={() => setNew('yes')}>{add.label}</NewButton>,
    form: isNew !== '' && add.form(() => setNew('')),
  }
}
