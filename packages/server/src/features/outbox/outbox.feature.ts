import { defineFeature } from '../feature.ts'
import { type CourierDeps, courierIntervalMs, createCourier } from './outbox.courier.ts'
import { createOutbox, type OutboxDeps } from './outbox.service.ts'

/** What has to follow a commit: rows of the same transaction. */
export function outboxFeature(deps: OutboxDeps) {
  const { add, pruners, dropped } = createOutbox({ ...deps, log: deps.log.component('outbox') })
  return defineFeature(
    {
      pruners,
      counters: () => ({ outbox_dropped_total: dropped() }),
      crash: {
        outbox: { not: 'the load has no events; the tests of tournaments kill nodes that have' },
      },
    },
    { add },
  )
}

/** Longest wait at the end for what is being delivered, in milliseconds. */
const stopMs = 5000

/** Delivers what the outbox holds to these consumers. */
export function deliveryFeature(deps: CourierDeps) {
  const courier = createCourier({ ...deps, log: deps.log.component('outbox') })
  const { look } = courier
  return defineFeature(
    {
      tasks: [{ name: 'outbox', intervalMs: courierIntervalMs, run: look, needsDatabase: true }],
      counters() {
        const { delivered, failed } = courier.counts()
        return { outbox_delivered_total: delivered, outbox_failed_total: failed }
      },
      stop: () => courier.stop(stopMs),
    },
    { courier },
  )
}
