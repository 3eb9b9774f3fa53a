import { useQueryPart } from '../../data/location.ts'
import { useRead } from '../../data/reads.ts'
import { Badge } from '../../kit/badge.tsx'
import { FilterInput } from '../../kit/filter.tsx'
import { Card, Page } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import { Text } from '../../kit/text.tsx'

type Entry = { key: string; value: string }
type Group = { name: string; entries: readonly Entry[] }

export function ConfigPage() {
  const [filter, setFilter] = useQueryPart('filter')
  const config = useRead(['config'], (desk) => desk.config.get({}))
  return (
    <Page title="Configuration">
      <div className="page-tools">
        <FilterInput label="Part of a key" value={filter} onValue={setFilter} isMain={true} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys. */}
      <section className="page-scroll" tabIndex={0} aria-label="Settings">
        <Await query={config}>{({ groups }) => <Groups groups={groups} filter={filter} />}</Await>
      </section>
    </Page>
  )
}

function Groups({ groups, filter }: { groups: readonly Group[]; filter: string }) {
  const words = filter.toLowerCase()
  const shown = groups
    .map(({ name, entries }) => ({
      name,
      entries: entries.filter(({ key }) => `${name}.${key}`.toLowerCase().includes(words)),
    }))
    .filter(({ entries }) => entries.length > 0)
  if (shown.length === 0) return <Empty title="No key matches" />
  return (
    <div className="stack">
      <p className="muted">
        What is in force since the start, after file, environment and flags. Options that are not
        set have no entry.
      </p>
      {shown.map(({ name, entries }) => (
        <Card key={name} title={name}>
          <dl className="facts">
            {entries.map((entry) => (
              <Setting key={entry.key} entry={entry} />
            ))}
          </dl>
        </Card>
      ))}
    </div>
  )
}

const redacted = '<redacted>'

function Setting({ entry: { key, value } }: { entry: Entry }) {
  return (
    <>
      <dt className="mono">{key}</dt>
      <dd className="mono">
        {value === redacted ? <Badge>redacted</Badge> : <Text>{value}</Text>}
      </dd>
    </>
  )
}
