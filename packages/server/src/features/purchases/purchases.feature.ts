import { defineFeature, mount } from '../feature.ts'
import { purchaseHandlers, subscriptionHandlers } from './purchases.routes.ts'
import { createPurchases, type PurchasesDeps } from './purchases.service.ts'
import { purchaseStory } from './purchases.story.store.ts'
import { createCustomValidator } from './purchases.validator.ts'

type PurchasesFeatureDeps = Omit<PurchasesDeps, 'validate'> & {
  config: { purchases: { max_receipt_bytes: number } }
}

/** Purchases, and the subscriptions among them. */
export function purchasesFeature({ config, ...deps }: PurchasesFeatureDeps) {
  const validate = createCustomValidator(config.purchases.max_receipt_bytes)
  const purchases = createPurchases({ ...deps, validate })
  return defineFeature({
    routes: mount({
      purchases: purchaseHandlers(purchases),
      subscriptions: subscriptionHandlers(purchases),
    }),
    stories: { purchase: purchaseStory },
    crash: { purchases: 'purchases' },
  })
}
