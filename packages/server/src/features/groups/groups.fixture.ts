import { GroupDetail, groupsApi } from '@guildhall/contract'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'
import type { Move } from './groups.states.ts'

export type GroupOperator = Awaited<ReturnType<typeof openGroupOperator>>

export type NewGroup = {
  name?: string
  description?: string | null
  open?: boolean | null
  max_size?: number | null
  creator_user_id?: string | null
}

/** The admin's requests about groups on one node. */
export async function openGroupOperator(api: Pick<TestApi, 'call'>) {
  const operator = await openOperator(api)
  let made = 0

  const add = (id: number | string, user_id: unknown, headers?: Record<string, string>) =>
    operator.send('POST', `/groups/${id}/members`, { user_id }, headers)
  const move = (
    id: number | string,
    user_id: string,
    move: Move,
    headers?: Record<string, string>,
  ) =>
    operator.send(
      'POST',
      `/groups/${id}/members/${encodeURIComponent(user_id)}/${move}`,
      undefined,
      headers,
    )

  return {
    ...operator,
    add,
    move,
    /** Makes a group that must be made, under a name of its own by default. */
    async make(request: NewGroup = {}): Promise<GroupDetail> {
      made += 1
      const name = `group ${made} of ${operator.token.slice(0, 8)}`
      const answer = await operator.send('POST', '/groups', { name, ...request })
      if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`)
      return GroupDetail().parse(answer.body)
    },
    /** Makes a group of these members: the first is its founder, the others rise to a role. */
    async makeOf(members: readonly (readonly [user_id: string, role: string])[], request = {}) {
      const [founder, ...others] = members
      const group = await this.make({ creator_user_id: founder?.[0] ?? 'founder', ...request })
      for (const [user_id, role] of others) {
        await add(group.id, user_id)
        if (role !== 'member') await move(group.id, user_id, 'promote')
        if (role === 'superadmin') await move(group.id, user_id, 'promote')
      }
      return this.get(group.id)
    },
    read: (id: number | string) => operator.send('GET', `/groups/${id}`),
    async get(id: number): Promise<GroupDetail> {
      return detailOf(await operator.send('GET', `/groups/${id}`))
    },
    async list(query = '') {
      return groupsApi.list.ok.parse((await operator.send('GET', `/groups${query}`)).body)
    },
  }
}

/** Reads the detail that a request was answered with. */
export function detailOf(answer: ApiAnswer): GroupDetail {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`)
  return GroupDetail().parse(answer.body)
}

/** Who is in a group, in the order of joining, as `user:role`. */
export function membersOf({ members }: GroupDetail): string[] {
  return members.map(({ user_id, role }) => `${user_id}:${role}`)
}
