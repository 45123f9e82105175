import { appointments } from "../../src/plugins/appointments/index.ts"
import { channelConnector, productFeed, shopify, woocommerce } from "../../src/plugins/channel-connector/index.ts"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { notifications } from "../../src/plugins/notifications/index.ts"
import { posRestaurant } from "../../src/plugins/pos-restaurant/index.ts"
import { pos } from "../../src/plugins/pos/index.ts"
import { procurement } from "../../src/plugins/procurement/index.ts"
import { production } from "../../src/plugins/production/index.ts"
import { reviews } from "../../src/plugins/reviews/index.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"
import { uom } from "../../src/plugins/uom/index.ts"
import { warehouse } from "../../src/plugins/warehouse/index.ts"

export const everyPlugin: ReadonlyArray<Plugin> = [
  appointments(),
  channelConnector({ adapters: [productFeed, shopify(), woocommerce] }),
  giftCards(),
  marketplace(),
  notifications(),
  uom,
  warehouse,
  pos(),
  posRestaurant(),
  procurement(),
  production,
  reviews(),
  scheduledOrders()
]
