import type { Party } from '@guildhall/contract/wire'

type PartyId = { party_id: string }
type Target = { party_id: string; target_user_id: string }

/** The methods of parties. All reject with `rpc_refused` and the server's text. */
export type PartyCalls = {
  create(options?: { open?: boolean }): Promise<Party>
  update(change: { party_id: string; open: boolean }): Promise<Party>
  invite(target: Target): Promise<Party>
  accept(party: PartyId): Promise<Party>
  decline(party: PartyId): Promise<{ declined: true }>
  /** Enters an open party; of another one it asks the leader. */
  join(party: PartyId): Promise<Party | { requested: true; expires_at: number }>
  acceptRequest(target: Target): Promise<Party>
  refuseRequest(target: Target): Promise<{ refused: true }>
  leave(party: PartyId): Promise<{ left: true }>
  promote(target: Target): Promise<Party>
  remove(target: Target): Promise<Party>
  send(message: { party_id: string; data: unknown }): Promise<{ sent: true }>
  close(party: PartyId): Promise<{ closed: true }>
  status(party?: PartyId): Promise<Party>
  /** What the last reply said; null outside a party. */
  readonly current: Party | null
}
