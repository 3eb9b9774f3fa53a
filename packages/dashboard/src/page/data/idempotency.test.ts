import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { api, type Route } from '@guildhall/contract'
import { expect, it } from 'vitest'

const pages = join(import.meta.dirname, '..')
const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !name.includes('.test.'),
)

type Call = { file: string; route: string; text: string }

/** Every call of the console client, with its arguments. */
function callsIn(file: string): Call[] {
  const source = readFileSync(join(pages, file), 'utf8')
  return [...source.matchAll(/\bclient\s*\.(\w+)(?:\s*\.(\w+)|\[\w+\])\(/g)].map((match) => {
    const [opening, section = '', name] = match
    const start = match.index + opening.length
    let depth = 1
    let end = start
    for (; depth > 0; end += 1) depth += { '(': 1, ')': -1 }[source[end] ?? ')'] ?? 0
    return { file, route: `${section}.${name ?? '*'}`, text: source.slice(start, end) }
  })
}

const calls = sources.flatMap(callsIn)
const sections: Readonly<Record<string, Readonly<Record<string, Route>>>> = api

/** A name that is chosen at run time is one of several changes. */
function isChange({ route }: Call): boolean {
  const [section = '', name = ''] = route.split('.')
  if (name === '*') return true
  const { method, access } = sections[section]?.[name] ?? {}
  return method !== 'GET' && access === 'admin'
}

it('[H-IDM-1] every change that the page sends has an Idempotency-Key', () => {
  const changes = calls.filter(isChange)
  expect(changes.length).toBeGreaterThan(30)
  const without = changes.filter(({ text }) => !/\bidempotencyKey\b/.test(text))
  expect(without).toEqual([])
})

it('[H-IDM-1] every change of the contract is called by the page', () => {
  const called = new Set(calls.map(({ route }) => route))
  const chosen = new Set(calls.map(({ route }) => route.split('.')[0]).filter(Boolean))
  const missing = Object.entries(sections).flatMap(([section, routes]) =>
    Object.entries(routes)
      .filter(([, { method, access }]) => method !== 'GET' && access === 'admin')
      .map(([name]) => `${section}.${name}`)
      .filter(
        (route) => !called.has(route) && !(called.has(`${section}.*`) && chosen.has(section)),
      ),
  )
  expect(missing).toEqual([])
})
