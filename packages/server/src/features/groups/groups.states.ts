import type { GroupRole } from '@guildhall/contract'

/** What an operator does with a member. */
export type Move = 'promote' | 'demote' | 'kick'

/** Where a move leads; `gone` is out of the group. */
export type Rung = GroupRole | 'gone'

type Edge =
  | { readonly to: Rung }
  /** Only while another superadmin remains. */
  | { readonly to: Rung; readonly unlessLast: true }
  | { readonly refused: string }

/** The ladder: every move of every role. */
export const ladder: { readonly [role in GroupRole]: { readonly [move in Move]: Edge } } = {
  member: {
    promote: { to: 'admin' },
    demote: { refused: 'already member' },
    kick: { to: 'gone' },
  },
  admin: {
    promote: { to: 'superadmin' },
    demote: { to: 'member' },
    kick: { to: 'gone' },
  },
  superadmin: {
    promote: { refused: 'already superadmin' },
    demote: { to: 'admin', unlessLast: true },
    kick: { to: 'gone', unlessLast: true },
  },
}

/** Whether the outcome of a move depends on the group's other superadmins. */
export function needsAnotherSuperadmin(role: GroupRole, move: Move): boolean {
  return 'unlessLast' in ladder[role][move]
}

export type Member = { role: GroupRole; isLastSuperadmin: boolean }

/** Where a move takes a member, or why it may not be made. */
export function step({ role, isLastSuperadmin }: Member, move: Move): Outcome {
  const edge = ladder[role][move]
  if ('refused' in edge) return edge
  if ('unlessLast' in edge && isLastSuperadmin) return { refused: 'last superadmin' }
  return { to: edge.to }
}

export type Outcome = { to: Rung } | { refused: string }
