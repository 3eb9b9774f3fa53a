import { describe, expect, it } from 'vitest'
import { createPathMatcher } from './path-matcher.ts'

const methodsOf = createPathMatcher([
  { method: 'GET', path: '/a' },
  { method: 'PATCH', path: '/a' },
  { method: 'DELETE', path: '/a/{id}' },
  { method: 'GET', path: '/a/{id}' },
  { method: 'POST', path: '/a/me' },
  { method: 'PUT', path: '/a/{id}/b.c' },
])

describe('createPathMatcher', () => {
  it.each([
    ['/a', ['GET', 'HEAD', 'PATCH']],
    ['/a/1', ['DELETE', 'GET', 'HEAD']],
    ['/a/x%2Fy', ['DELETE', 'GET', 'HEAD']],
    ['/a/me', ['POST']],
    ['/a/1/b.c', ['PUT']],
    ['/a/1/bxc', []],
    ['/a/', []],
    ['/a//b.c', []],
    ['/a/1/', []],
    ['/A', []],
    ['a', []],
    ['', []],
    ['/', []],
    ['/a/{id}/b', []],
    ['/a\n', []],
  ])('[H-GEN-27] tells what %j offers, in alphabetical order', (path, methods) => {
    expect(methodsOf(path)).toEqual(methods)
  })
})
