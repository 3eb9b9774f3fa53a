import { describe, expect, it } from 'vitest'
import { createRouter, methodsOf } from './router.ts'

const routes = [
  { method: 'GET', path: '/a' },
  { method: 'PATCH', path: '/a' },
  { method: 'DELETE', path: '/a/{id}' },
  { method: 'GET', path: '/a/{id}' },
  { method: 'POST', path: '/a/me' },
  { method: 'PUT', path: '/a/{id}/b.c' },
  { method: 'GET', path: '/p/{*}' },
  { method: 'PUT', path: '/p/own/{id}' },
] as const
const find = createRouter(routes.map((route) => ({ ...route, serve: route })))

describe('the router', () => {
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
    ['/p', []],
    ['/p/', []],
    ['/p/1', ['GET', 'HEAD']],
    ['/p/1/2%2F/3', ['GET', 'HEAD']],
    ['/p/1/', []],
    ['/p/1//2', []],
    ['/p/own/1', ['PUT']],
    ['/p/own/1/2', ['GET', 'HEAD']],
    ['/p/own', ['GET', 'HEAD']],
  ])('[H-GEN-27] lists what %j offers, in alphabetical order', (path, methods) => {
    expect(methodsOf(find(path))).toEqual(methods)
  })

  it('gives no request a place to write to that others read', () => {
    expect(Object.isFrozen(find('/a')?.params)).toBe(true)
    expect(find('/a/1')?.params).not.toBe(find('/a/1')?.params)
  })

  it('finds the route of a path and a method, and the decoded values of its named segments', () => {
    const match = find('/a/x%2Fy/b.c')
    expect(match?.template).toBe('/a/{id}/b.c')
    expect(match?.params).toEqual({ id: 'x/y' })
    expect(match?.methods.get('PUT')).toEqual({ method: 'PUT', path: '/a/{id}/b.c' })
    expect(find('/a/me')?.methods.get('GET')).toBeUndefined()
  })
})
