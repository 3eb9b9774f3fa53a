import { StorageObject, storageApi } from '@guildhall/contract'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'

export type StorageOperator = Awaited<ReturnType<typeof openStorageOperator>>

/** The path of an object below `/console/v1`. */
export function pathOf(collection: string, key: string, query: Record<string, string> = {}) {
  const search = new URLSearchParams(query).toString()
  const path = `/storage/${encodeURIComponent(collection)}/${encodeURIComponent(key)}`
  return search === '' ? path : `${path}?${search}`
}

/** The admin's requests about stored objects on one node. */
export async function openStorageOperator(api: Pick<TestApi, 'call'>) {
  const operator = await openOperator(api)
  const list = async (collection: string, query = '') => {
    const answer = await operator.send('GET', `/storage/${encodeURIComponent(collection)}${query}`)
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return storageApi.list.ok.parse(answer.body)
  }
  return {
    ...operator,
    list,
    /** A string is sent as it is. */
    write: (path: string, body: unknown, headers?: Record<string, string>) =>
      operator.send('PUT', path, body, headers),
    /** Stores one that must be stored. */
    async put(path: string, value: unknown, more: Record<string, unknown> = {}) {
      const answer = await operator.send('PUT', path, { value, ...more })
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
      return objectOf(answer)
    },
    read: (path: string) => operator.send('GET', path),
    async get(path: string) {
      return objectOf(await operator.send('GET', path))
    },
    remove: (path: string) => operator.send('DELETE', path),
    async collections() {
      const answer = await operator.send('GET', '/storage')
      const { collections } = storageApi.collections.ok.parse(answer.body)
      return collections.map(({ collection, objects }): [string, number] => [collection, objects])
    },
    /** All rows of a collection as `user/key`, page by page. */
    async walk(collection: string, limit: number, query = '') {
      const pages: string[][] = []
      let next: string | undefined
      do {
        const cursor: string = next === undefined ? '' : `&cursor=${next}`
        const page = await list(collection, `?limit=${limit}${query}${cursor}`)
        pages.push(page.items.map(({ user_id, key }) => `${user_id ?? '-'}/${key}`))
        next = page.next
      } while (next !== undefined)
      return pages
    },
  }
}

/** The object that a request was answered with, its integers exact. */
export function objectOf(answer: ApiAnswer): StorageObject {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`)
  return StorageObject().parse(readJson(answer.text).value)
}
