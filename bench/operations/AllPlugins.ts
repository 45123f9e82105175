import shipped from "../../commerce.config.ts"
import { appointments } from "../../src/plugins/appointments/index.ts"
import { channelConnector } from "../../src/plugins/channel-connector/index.ts"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
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

/** The configuration that is shipped, with every plugin of this repository. */
export default {
  ...shipped,
  plugins: [
    marketplace(),
    uom,
    warehouse,
    procurement({ fourEyes: false }),
    production,
    notifications(),
    scheduledOrders(),
    reviews(),
    appointments(),
    giftCards(),
    pos({ giftCards: true, printing: true }),
    posRestaurant({ printing: true, types: ["dish"] }),
    channelConnector()
  ]
}
