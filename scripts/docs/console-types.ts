import { type Api, api, type Route } from '@guildhall/contract'
import type { z } from 'zod'
import { definitionOf } from '../../packages/server/src/kernel/json/schema-walk.ts'
import { isOptional, typeText } from './type-text.ts'

/**
 * What players call, and what needs no credential, is no section of the console's client; the
 * explorer has no database in memory to show.
 */
const { signIn, sessions, accounts, realtime, shell, lagUpload, database, ...sections } = api

/** The routes of the console as members of a type, each a function of what it declares. */
export function consoleMembers(indent: string): string {
  return Object.entries<Api>(sections)
    .map(([name, section]) => {
      const routes = Object.entries(section).map(([route, row]) => {
        return `${indent}  ${route}(input: ${inputText(row)}): Promise<${answerText(row)}>`
      })
      return `${indent}readonly ${name}: {\n${routes.join('\n')}\n${indent}}`
    })
    .join('\n')
}

function inputText({ params, query, body, access }: Route): string {
  const parts = [
    ...(params === undefined ? [] : [`params: ${textParts(params)}`]),
    ...(query === undefined ? [] : [`query: ${textParts(query)}`]),
    ...(body === undefined ? [] : [`body: ${typeText(body, 'input')}`]),
    ...(access === 'admin' ? ['idempotencyKey?: string'] : []),
  ]
  return parts.length === 0 ? '{}' : `{ ${parts.join('; ')} }`
}

/** What goes through a path or a query as text may also be given as what it stands for. */
function textParts(schema: z.ZodType): string {
  const members = Object.entries(definitionOf(schema).shape ?? {}).map(([name, member]) => {
    const texts = new Set([typeText(member, 'input'), typeText(member, 'output')])
    return `${name}${isOptional(member, 'input') ? '?' : ''}: ${[...texts].join(' | ')}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`
}

function answerText({ ok }: Route): string {
  return ok === undefined ? 'undefined' : typeText(ok, 'output')
}
