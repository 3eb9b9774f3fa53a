import { api, type Route } from '@guildhall/contract'
import { mayNow } from '../data/permissions.ts'
import { useSettled } from '../data/settled.ts'
import { actions } from './palette-actions.ts'
import { directTargets, isWhole } from './palette-direct.ts'
import { useSources } from './palette-sources.ts'
import type { Target } from './palette-target.ts'
import { type Section, sections } from './sections.ts'

/**
 * What the text finds: sections, actions and what an id says by itself at once, stored things when
 * typing pauses. An id that can be only one thing is searched for nowhere.
 */
export function useFound(text: string): readonly Target[] {
  const filter = useSettled(text.trim())
  const stored = useSources(filter.length >= 2 && !isWhole(filter) ? filter : '')
  const words = text.trim().toLowerCase()
  const isNamed = ({ label }: { label: string }) => label.toLowerCase().includes(words)
  const direct = directTargets(text.trim())
  return [
    ...direct.first,
    ...sections.filter((section) => mayNow(section.reads) && isNamed(section)).map(sectionTarget),
    ...actions.filter((action) => mayNow(action.calls) && isNamed(action)),
    ...stored.targets,
    // Behind all else, and not before that is there: nobody means it who types a name.
    ...(stored.isWhole && filter === text.trim() ? [...partOf(filter), ...direct.last] : []),
  ].filter(isOnce())
}

/** What looks through very much for a part of it, which is a list's work and not the palette's. */
function partOf(filter: string): readonly Target[] {
  if (filter.length < 2 || isWhole(filter)) return []
  return [
    ...listTarget(api.consoleAccounts.list, {
      label: 'All accounts with this in the username or id',
      glyph: 'person',
      to: '/accounts',
      search: { filter },
    }),
    ...listTarget(api.scriptLogs.search, {
      label: 'Lines of the script with this text',
      glyph: 'list',
      to: '/logs',
      search: { text: filter },
    }),
  ]
}

function listTarget(reads: Route, target: Omit<Target, 'key' | 'kind'>): readonly Target[] {
  return mayNow(reads) ? [{ ...target, key: target.label, kind: 'list' }] : []
}

/** An account may be found by several of its names. */
function isOnce(): (target: Target) => boolean {
  const seen = new Set<string>()
  return ({ key }) => !seen.has(key) && seen.add(key) !== undefined
}

function sectionTarget({ path, label, glyph }: Section): Target {
  return { key: path, label, kind: 'section', glyph, to: path }
}
