import { parseExact } from '@guildhall/client/console'
import { type FilterOperator, filterOperators } from '@guildhall/contract'
import { type FormEvent, useState } from 'react'
import { jsonText } from '../../../model/json.ts'
import { Glyph } from '../../kit/glyph.tsx'
import { Text } from '../../kit/text/text.tsx'
import type { Description } from './description.ts'

export type Filter = {
  column: string
  operator: FilterOperator
  value?: string | number | bigint | boolean | null
}

const filtersMax = 8

const words: Readonly<Record<FilterOperator, string>> = {
  eq: '=',
  neq: '≠',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  contains: 'contains',
  is_null: 'is null',
}

/** The filters that stand in the address; what is no filter there counts as none. */
export function readFilters(text: string): Filter[] {
  try {
    const filters = parseExact(text)
    return Array.isArray(filters) ? filters : []
  } catch {
    return []
  }
}

/** As `readFilters` reads them, with all digits of integers. */
export function writeFilters(filters: readonly Filter[]): string {
  return filters.length === 0 ? '' : jsonText(filters)
}

type FiltersProps = {
  description: Description
  filters: readonly Filter[]
  onFilters(filters: readonly Filter[]): void
}

export function Filters({ description, filters, onFilters }: FiltersProps) {
  return (
    <>
      {filters.map((filter, index) => {
        const text = `${filter.column} ${words[filter.operator]} ${filter.value ?? ''}`
        return (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: two filters may be the same.
            key={`${index} ${text}`}
            type="button"
            title="Remove this filter"
            onClick={() => onFilters(filters.toSpliced(index, 1))}
          >
            <Text>{text}</Text>
            <Glyph name="cross" />
          </button>
        )
      })}
      {filters.length < filtersMax && (
        <NewFilter
          description={description}
          onFilter={(filter) => onFilters([...filters, filter])}
        />
      )}
    </>
  )
}

type NewFilterProps = { description: Description; onFilter(filter: Filter): void }

function NewFilter({ description, onFilter }: NewFilterProps) {
  const columns = description.columns.filter(({ sensitive }) => !sensitive)
  const [column, setColumn] = useState(columns[0]?.name ?? '')
  const [operator, setOperator] = useState<FilterOperator>('eq')
  const [text, setText] = useState('')
  const add = (event: FormEvent) => {
    event.preventDefault()
    const isText = /char|text|clob/i.test(typeOf(description, column))
    const value = operator === 'is_null' ? {} : { value: isText ? text : scalarOf(text) }
    onFilter({ column, operator, ...value })
    setText('')
  }
  return (
    <form className="row low" onSubmit={add}>
      <label className="filter">
        <span>Filter</span>
        <select value={column} onChange={({ target }) => setColumn(target.value)}>
          {columns.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <select
        aria-label="Comparison"
        value={operator}
        onChange={({ target }) =>
          setOperator(filterOperators.find((one) => one === target.value) ?? 'eq')
        }
      >
        {filterOperators.map((one) => (
          <option key={one} value={one}>
            {words[one]}
          </option>
        ))}
      </select>
      {operator !== 'is_null' && (
        <input
          aria-label="Value"
          size={14}
          value={text}
          spellCheck={false}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <button type="submit">Add</button>
    </form>
  )
}

function typeOf({ columns }: Description, column: string): string {
  return columns.find(({ name }) => name === column)?.data_type ?? ''
}

/** Numbers and booleans as such; everything else is a text. */
function scalarOf(text: string): NonNullable<Filter['value']> {
  if (text === 'true' || text === 'false') return text === 'true'
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) return text
  const value = parseExact(text)
  return typeof value === 'number' || typeof value === 'bigint' ? value : text
}
