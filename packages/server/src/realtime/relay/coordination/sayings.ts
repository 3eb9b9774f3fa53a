import type { Bus } from '../../../kernel/cluster/bus.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { AccountKey } from '../../play/accounts.port.ts'
import type { GatheringRecords } from '../../play/coordination.port.ts'
import type { OffersSaid } from '../../play/matchmaker/offers/offer.ts'
import { type Content, encodeMessage } from '../messages.ts'
import type { PresenceUpdate } from './present-accounts.ts'

type SayingsDeps = {
  bus: Bus
  me: string
  /** Of the role, as far as this node knows. */
  generation(): number
}

type Reached = { account: AccountKey; except: number | null; frame: OutgoingFrame }

export type Sayings = ReturnType<typeof createSayings>

/** What coordinator and edges say to each other. */
export function createSayings({ bus, me, generation }: SayingsDeps) {
  const send = (boot: string, content: Content) => bus.send(boot, encodeMessage(me, content))
  return {
    toAll(type: 'coordinates' | 'notCoordinating', of: number): void {
      bus.sendAll(encodeMessage(me, { type, generation: of }))
    },
    notCoordinating(boot: string): void {
      send(boot, { type: 'notCoordinating', generation: generation() })
    },
    presence(boot: string, { sequence, isAll, here, gone }: PresenceUpdate): void {
      const said = { sequence, isAll, here: [...here], gone: [...gone] }
      send(boot, { type: 'presence', generation: generation(), ...said })
    },
    presenceAgain(boot: string): void {
      send(boot, { type: 'presenceAgain', generation: generation() })
    },
    edgeStops(boot: string): void {
      send(boot, { type: 'edgeStops', generation: generation() })
    },
    kept(boot: string, records: GatheringRecords): void {
      send(boot, { type: 'kept', generation: generation(), records })
    },
    offers(boot: string, { isAll, records, over }: OffersSaid): void {
      const said = { isAll, records, over: [...over] }
      send(boot, { type: 'offers', generation: generation(), ...said })
    },
    keep(boot: string, records: GatheringRecords, isAll: boolean): void {
      send(boot, { type: 'keep', generation: generation(), isAll, records })
    },
    reach(boot: string, { account, except, frame }: Reached): void {
      const { bytes, mergeKey } = frame
      const sent = { bytes, mergeKey }
      send(boot, { type: 'reach', generation: generation(), account, except, frame: sent })
    },
  }
}
