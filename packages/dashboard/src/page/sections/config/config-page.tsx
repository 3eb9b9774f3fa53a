import { api } from '@guildhall/contract'
import { useQueryPart } from '../../data/location.ts'
import { useRead } from '../../data/reads.ts'
import { OfNode } from '../../kit/of-node.tsx'
import { Card, Page } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import { FilterChoice, FilterInput } from '../../kit/table/filter.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'

type Entry = { key: string; value: string; source?: string | undefined }
type Group = { name: string; entries: readonly Entry[] }

export function ConfigPage() {
  const [filter, setFilter] = useQueryPart('filter')
  const [set, setSet] = useQueryPart('set')
  const config = useRead(['config', 'sources'], (client) =>
    client.config.get({ query: { sources: 'true' } }),
  )
  return (
    <Page title="Configuration" actions={<OfNode route={api.config.get} />}>
      <div className="page-tools">
        <FilterInput label="Part of a key" value={filter} onValue={setFilter} isMain={true} />
        <FilterChoice label="Set by" value={set} choices={setters} onValue={setSet} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys. */}
      <section className="page-scroll" tabIndex={0} aria-label="Settings">
        <Await query={config}>
          {({ groups }) => <Groups groups={groups} filter={filter} set={set} />}
        </Await>
      </section>
    </Page>
  )
}

type GroupsProps = { groups: readonly Group[]; filter: string; set: string }

function Groups({ groups, filter, set }: GroupsProps) {
  const words = filter.toLowerCase()
  const shown = groups
    .map(({ name, entries }) => ({
      name,
      entries: entries.filter(
        ({ key, source }) => `${name}.${key}`.toLowerCase().includes(words) && isSetBy(source, set),
      ),
    }))
    .filter(({ entries }) => entries.length > 0)
  if (shown.length === 0) return <Empty title="No key matches" />
  return (
    <div className="stack">
      <p className="muted">
        What is in force since the start, and where each value came from. Options that are not set
        have no entry.
      </p>
      {shown.map(({ name, entries }) => (
        <Card key={name} title={name}>
          <dl className="facts settings">
            {entries.map((entry) => (
              <Setting key={entry.key} entry={entry} />
            ))}
          </dl>
        </Card>
      ))}
    </div>
  )
}

const setters = ['default', 'file', 'environment', 'flag', 'all but defaults']

/** The source is in words: `environment NAME`, `flag --name`, a file by its own name. */
function isSetBy(source: string | undefined, set: string): boolean {
  const first = source?.split(' ')[0] ?? unset
  const isNamed = first === unset || first === 'environment' || first === 'flag'
  if (set === '') return true
  return set === 'all but defaults' ? first !== unset : set === (isNamed ? first : 'file')
}

const redacted = '<redacted>'
const unset = 'default'

function Setting({ entry: { key, value, source } }: { entry: Entry }) {
  return (
    <>
      <dt className="mono">{key}</dt>
      <dd className="mono">
        {value === redacted ? <Badge>redacted</Badge> : <Text>{value}</Text>}
      </dd>
      <dd className="small">
        {source === undefined || source === unset ? <None>{unset}</None> : <Text>{source}</Text>}
      </dd>
    </>
  )
}
