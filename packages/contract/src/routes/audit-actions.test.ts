import { expect, it } from 'vitest'
import { api } from '../index.ts'
import { auditActions } from './audit-actions.ts'
import type { Route } from './route.ts'

/** Recorded by the sign-in of operators, and by the reads of keys, rather than by one route. */
const byNoRoute = ['console.login', 'console.login_failed', 'console.read']
/** Of captures, which scripts and operators start by one function. */
const byFunction = ['lag.start', 'lag.flush']

it('[H-AUD-10] actions are those of the routes, a few that no route names, and no other', () => {
  const routes = Object.values(api).flatMap((section): Route[] => Object.values(section))
  const named = routes.flatMap(({ audit }) => (audit === undefined ? [] : [audit]))
  expect(new Set<string>([...named, ...byNoRoute, ...byFunction])).toEqual(new Set(auditActions))
  expect(auditActions).toHaveLength(new Set(auditActions).size)
})
