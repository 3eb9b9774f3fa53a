import { api } from '@guildhall/contract'
import { mayNow } from '../data/permissions.ts'
import { useRead } from '../data/reads.ts'
import { useSettled } from '../data/settled.ts'
import { actions } from './palette-actions.ts'
import type { Target } from './palette-target.ts'
import { type Section, sections } from './sections.ts'

/** What the text finds: sections and actions at once, stored things when typing pauses. */
export function useFound(text: string): readonly Target[] {
  const filter = useSettled(text.trim())
  const enabled = filter.length >= 2
  const people = useRead(
    ['accounts', 'palette', filter],
    (desk) => desk.consoleAccounts.list({ query: { filter, limit: 8 } }),
    { enabled: enabled && mayNow(api.consoleAccounts.list) },
  )
  const groups = useRead(
    ['groups', 'palette', filter],
    (desk) => desk.groups.list({ query: { filter, limit: 5 } }),
    { enabled: enabled && mayNow(api.groups.list) },
  )
  const words = text.trim().toLowerCase()
  const isNamed = ({ label }: { label: string }) => label.toLowerCase().includes(words)
  return [
    ...sections.filter((section) => mayNow(section.reads) && isNamed(section)).map(sectionTarget),
    ...actions.filter((action) => mayNow(action.calls) && isNamed(action)),
    ...(enabled ? (people.data?.items ?? []) : []).map(
      ({ id, username, display_name }): Target => ({
        key: id,
        label: display_name === null ? username : `${username} · ${display_name}`,
        kind: 'account',
        glyph: 'person',
        to: '/accounts/$id',
        params: { id },
      }),
    ),
    ...(enabled ? (groups.data?.items ?? []) : []).map(
      ({ id, name }): Target => ({
        key: `group-${id}`,
        label: name,
        kind: 'group',
        glyph: 'people',
        to: '/groups/$id',
        params: { id: String(id) },
      }),
    ),
  ]
}

function sectionTarget({ path, label, glyph }: Section): Target {
  return { key: path, label, kind: 'section', glyph, to: path }
}
